import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CHAIN, filesIn, makeProject, runFolders, skein, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const SLOW = `rules:
  - { step: facts, answer: They weave. }
  - { step: text, answer: { text: Looms weave., delay: 600s } }
`;

describe('what only looks leaves nothing', () => {
  test.each([
    ['validate', 'flow.yaml'],
    ['validate', 'flow.yaml', '--json'],
    ['graph', 'flow.yaml'],
    ['graph', 'flow.yaml', '--format', 'dot'],
    ['plan', 'flow.yaml'],
    ['plan', 'flow.yaml', '--input', 'topic=tides', '--json'],
  ])('skein %s', async (...words) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    expect((await served(words, { cwd })).code).toBe(0);
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('so does looking for runs where there are none', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    expect((await served(['runs'], { cwd })).stderr).toContain('no run is recorded here');
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('so does a run without a store and without an audit', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    expect((await served(['run', 'flow.yaml', '--mock', '--no-store', '--no-audit'], { cwd })).code).toBe(0);
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });
});

describe('a refused run leaves no run folder', () => {
  test('when another process has it', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SLOW });
    const running = startSkein(['run', 'flow.yaml', '--mock=answers.yaml'], { cwd });
    await running.seen('step text started');
    const before = await runFolders(cwd);
    const refused = await served(['resume', '-1'], { cwd });
    expect(refused.stderr).toContain('error SKEIN_LEASE: ');
    expect([before.length, await runFolders(cwd)]).toEqual([1, before]);
    running.child.kill('SIGKILL');
  });

  test('when its store is no store; what is there stays as it is', async () => {
    const text = 'this is no database, but somebody may need it\n'.repeat(50);
    const cwd = await makeProject({ 'flow.yaml': CHAIN, '.skein/skein.db': text });
    const end = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain('--no-store runs without a record');
    expect(await filesIn(cwd)).toEqual(['.skein', '.skein/skein.db', 'flow.yaml']);
    expect(await readFile(join(cwd, '.skein/skein.db'), 'utf8')).toBe(text);
  });
});

test('secrets of the environment are in no file of a recorded run', async () => {
  const flow = `name: secretive
config: { provider: { type: openai-compatible, base_url: "http://127.0.0.1:9/v1", api_key_env: SHOP_KEY } }
agents:
  writer:
    inline:
      prompt: You write.
      tools: []
      mcp-servers: { shop: { command: node, args: [shop.mjs], env: { TOKEN: "\${SHOP_TOKEN}" } } }
steps: [{ id: facts, agent: writer, prompt: Facts }]
`;
  const cwd = await makeProject({ 'flow.yaml': flow });
  const env = { SHOP_KEY: 'canary-of-a-key', SHOP_TOKEN: 'canary-of-a-token', OPENAI_API_KEY: 'canary-of-openai' };
  await served(['run', 'flow.yaml', '--mock'], { cwd, env });
  const shown = await served(['show', '-1', '--json'], { cwd });
  expect(JSON.parse(shown.stdout)).toMatchObject({ origin: { file: 'flow.yaml', flags: { mock: '' } } });
  const names = (await filesIn(cwd)).filter((name) => /^\.skein\/|\.\w+$/.test(name));
  expect(names).toContain('.skein/skein.db');
  const texts = await Promise.all(names.map((name) => readFile(join(cwd, name), 'latin1').catch(() => '')));
  expect(texts.join('\n')).toContain('${SHOP_TOKEN}');
  expect(texts.join('\n')).not.toContain('canary-of');
});

describe('on a machine without SQLite', () => {
  /** Node is told to find neither driver, as where the optional package could not be installed. */
  async function withoutDriver(cwd: string): Promise<Record<string, string>> {
    const hooks = `export async function resolve(name, context, next) {
      if (name === '@photostructure/sqlite' || name === 'node:sqlite') throw Object.assign(new Error('none'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    }`;
    const hooksUrl = `data:text/javascript,${encodeURIComponent(hooks)}`;
    const preload = join(cwd, 'preload.mjs');
    await writeFile(preload, `import { register } from 'node:module';\nregister(${JSON.stringify(hooksUrl)});\n`);
    return { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` };
  }

  test('a run says that it is not recorded and goes on', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await skein(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd, env: await withoutDriver(cwd) });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Text from ');
    expect(end.stderr).toMatch(
      /^warning: this run is not recorded, so it can't be resumed: .*; npm install @photostructure\/sqlite@1\.2\.1$/m,
    );
    expect(end.stderr).not.toContain('recorded as');
  });

  test.each([
    ['resume', '-1'],
    ['fork', '-1'],
    ['runs'],
    ['show', '-1'],
    ['logs', '-1'],
    ['answer', '-1'],
    ['cancel', '-1'],
  ])('skein %s says what to install', async (...words) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const end = await skein(words, { cwd, env: await withoutDriver(cwd) });
    expect(end.code).not.toBe(0);
    expect(end.stdout).toBe('');
    expect(end.stderr).toMatch(/SKEIN_PACKAGE_MISSING[^]*npm install @photostructure\/sqlite@1\.2\.1/);
  });
});
