import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CHAIN, ROOT, makeProject, skein } from './support/skein.js';
import { served } from './support/served.js';

const PACKAGE = '@photostructure/sqlite';

/** Where a process finds SQLite: the version of that in Node, and whether the package is there. */
interface Machine {
  readonly node?: string;
  readonly withPackage: boolean;
}

/** The environment of such a machine. What stands for `node:sqlite` is the package, which has the same interface. */
async function machine(cwd: string, { node, withPackage }: Machine): Promise<Record<string, string>> {
  const twin = pathToFileURL(join(ROOT, 'node_modules', PACKAGE, 'dist/index.mjs')).href;
  const absent = `throw Object.assign(new Error('none'), { code: 'ERR_MODULE_NOT_FOUND' })`;
  const hooks = `export async function resolve(name, context, next) {
    if (name === 'node:sqlite') ${node === undefined ? absent : `return { url: ${JSON.stringify(twin)}, shortCircuit: true }`};
    if (name === ${JSON.stringify(PACKAGE)}) ${withPackage ? 'return next(name, context)' : absent};
    return next(name, context);
  }`;
  const preload = join(cwd, 'preload.mjs');
  const hooksUrl = `data:text/javascript,${encodeURIComponent(hooks)}`;
  await writeFile(
    preload,
    `import { register } from 'node:module';
    const versions = { ...process.versions, sqlite: ${JSON.stringify(node)} };
    Object.defineProperty(process, 'versions', { value: versions });
    register(${JSON.stringify(hooksUrl)});\n`,
  );
  return { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` };
}

describe('which SQLite is used', () => {
  it.each([
    [{ node: '3.51.3', withPackage: true }, 'SQLite 3.51.3 by node:sqlite'],
    [{ node: '3.100.0', withPackage: true }, 'SQLite 3.100.0 by node:sqlite'],
    [{ node: '3.51.2', withPackage: true }, 'SQLite 3.53.0 by @photostructure/sqlite'],
    [{ withPackage: true }, 'SQLite 3.53.0 by @photostructure/sqlite'],
  ])('[XR9] %j: version and doctor name it', async (given, line) => {
    const cwd = await makeProject();
    const env = await machine(cwd, given);
    const version = await skein(['version'], { cwd, env });
    expect(version).toMatchObject({ code: 0, stderr: '' });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\nNode /);
    expect(version.stdout.split('\n')).toContain(line);
    const doctor = await skein(['doctor'], { cwd, env });
    expect(doctor.stdout.split('\n')).toContain(`✔ ${line}`);
  });

  it('[XR9] an SQLite that can lose writes of two processes is refused, with what to install', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const env = await machine(cwd, { node: '3.51.2', withPackage: false });
    const why =
      'SQLite 3.51.2 of node:sqlite can lose what two processes write at the same time; 3.51.3 or newer is needed';
    const listed = await skein(['runs'], { cwd, env });
    expect(listed.code).not.toBe(0);
    expect(listed.stderr).toBe(`error SKEIN_PACKAGE_MISSING: ${why}\n    hint: npm install ${PACKAGE}@1.2.1\n`);
    const doctor = await skein(['doctor', '--json'], { cwd, env });
    expect(JSON.parse(doctor.stdout)).toMatchObject({ sqlite: { problem: expect.stringContaining(why) as string } });
    expect((await skein(['version'], { cwd, env })).stdout).toContain(`no SQLite: ${why}`);
    const run = await skein(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd, env });
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(`warning: this run is not recorded, so it can't be resumed: ${why}`);
    expect(run.stderr).not.toContain('recorded as');
    const allowed = await skein(['runs'], { cwd, env: { ...env, SKEIN_OLD_SQLITE: '1' } });
    expect(allowed.code).toBe(0);
    expect(allowed.stdout).toContain('succeeded');
  });
});

it('[XR9] a store that an older Skein wrote opens with all its runs, and goes on', async () => {
  const cwd = await makeProject({
    'slow.yaml': `name: slow
agents:
  writer: { inline: { prompt: You write., tools: [] } }
steps:
  - { id: facts, agent: writer, prompt: "Facts" }
  - { id: text, agent: writer, depends_on: [facts], prompt: "Text from {{steps.facts.output}}" }
`,
    'slow-script.yaml': `rules:
  - { step: facts, answer: The facts. }
  - { step: text, answer: The text. }
`,
  });
  await mkdir(join(cwd, '.skein'));
  await copyFile(join(ROOT, 'test/stores/golden/tables-1.db'), join(cwd, '.skein/skein.db'));
  const listed = await served(['runs', '--json'], { cwd });
  const { runs } = JSON.parse(listed.stdout) as { readonly runs: readonly { status: string; steps: number }[] };
  expect(runs.map(({ status, steps }) => `${status} ${steps}`)).toEqual([
    'interrupted 1',
    'paused 0',
    'succeeded 2',
    'succeeded 2',
    'succeeded 2',
  ]);
  const resumed = await served(['resume', '-1'], { cwd, env: { SKEIN_TRUST_STORE: '1' } });
  expect(resumed.code).toBe(0);
  expect(resumed.stderr).toContain('1 reused, 1 run');
});
