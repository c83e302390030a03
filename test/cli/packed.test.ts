import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPacked, packedManifest } from './support/packed.js';
import { readmeSections } from './support/readme.js';
import type { Ended } from './support/skein.js';
import { MAIN, ROOT, start } from './support/skein.js';

/** For what compiles. */
const LONG = 120_000;

/** Once for all tests, whose files have names of their own. */
let cwd = '';

beforeAll(async () => {
  cwd = await installPacked();
}, LONG);

afterAll(() => rm(cwd, { recursive: true, force: true, maxRetries: 3 }));

/** A file in TypeScript that the README shows. */
function readmeFile(name: string): string {
  const file = readmeSections()
    .flatMap(({ parts }) => parts)
    .find((part) => 'name' in part && part.name === name);
  if (file === undefined || !('text' in file)) throw new Error(`the README has no ${name}`);
  return file.text;
}

function tsc(...words: readonly string[]): Promise<Ended> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--exactOptionalPropertyTypes'];
  return start([process.execPath, compiler, ...options, ...words], { cwd, input: '' }).ended;
}

function node(...words: readonly string[]): Promise<Ended> {
  return start([process.execPath, ...words], { cwd, input: '' }).ended;
}

describe('the packed tarball in an empty folder', () => {
  let compiled: Promise<Ended> | undefined;

  /** One run of the compiler for all: most of its time goes into the declarations of what they import. */
  async function compile(): Promise<Ended> {
    const main = `import flow from './flow.js';
const { outcome, state } = await flow.run({ topic: 'looms' }, { models: { mock: true } });
console.log(outcome, state.checked);
`;
    const example = readmeFile('flow.ts');
    const misspelt = example.replace('({ text })', '({ txet })');
    expect(misspelt).not.toBe(example);
    const files = { 'flow.ts': example, 'chat.ts': readmeFile('chat.ts'), 'main.ts': main, 'misspelt.ts': misspelt };
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
    return await tsc(...Object.keys(files));
  }

  test('has the TypeScript of the README type-checked, also the declarations of the package, and run', async () => {
    const { stdout: said } = await (compiled ??= compile());
    const complaints = said.split('\n').filter((line) => /^\S/.test(line) && !line.startsWith('misspelt.ts('));
    expect(complaints).toEqual([]);
    const stdout = 'succeeded one line: Explain looms in one line.\n';
    expect(await node('main.js')).toMatchObject({ code: 0, stdout, stderr: '' });
  });

  test('has a misspelt name in it refused by the compiler', async () => {
    const { code, stdout } = await (compiled ??= compile());
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/^misspelt\.ts\(.*Property 'txet' does not exist/m);
  });

  test('runs it by its own program', async () => {
    await writeFile(join(cwd, 'exported.ts'), readmeFile('flow.ts'));
    const words = [
      'run',
      'exported.ts',
      '--input',
      'topic=looms',
      '--mock',
      '--json',
      '--trust',
      '--no-audit',
      '--no-store',
    ];
    const end = await node('node_modules/skein/dist/cli/main.js', ...words);
    expect(end.code, end.stderr).toBe(0);
    expect(JSON.parse(end.stdout)).toMatchObject({
      outcome: 'succeeded',
      state: { checked: 'one line: Explain looms in one line.' },
    });
  });

  test('exports what its package.json names, and each of it loads', async () => {
    const names = Object.keys((await packedManifest(cwd)).exports).filter((name) => !name.endsWith('.json'));
    expect(names).toContain('./graph');
    const imports = names.map((name) => `await import(${JSON.stringify(name.replace('.', 'skein'))});\n`).join('');
    await writeFile(join(cwd, 'all.mjs'), imports);
    expect(await node('all.mjs')).toMatchObject({ code: 0, stderr: '' });
  });

  test('has one SkeinError in all its entries, and a module sees the one of the program that runs it', async () => {
    const text = `import { SkeinError } from 'skein';
import { graph } from 'skein/graph';
const broken = graph({ name: 'broken' }).addNode('a', () => null).addEdge('a', 'nowhere').setEntry('a');
let caught;
try { broken.compile(); } catch (error) { caught = error instanceof SkeinError; }
export default graph({ name: 'same' }).node('same', () => caught, { inputs: [] }).setEntry('same');
console.error(String(caught));
`;
    await writeFile(join(cwd, 'same.mjs'), text);
    expect(await node('same.mjs')).toMatchObject({ code: 0, stderr: 'true\n' });
    const words = ['run', 'same.mjs', '--json', '--trust', '--no-audit', '--no-store'];
    const end = await node('node_modules/skein/dist/cli/main.js', ...words);
    expect(JSON.parse(end.stdout), end.stderr).toMatchObject({ outcome: 'succeeded', state: { same: true } });
  });

  test('runs in the bundle of a program that leaves it out, also if that is minified', async () => {
    const text = `import { memoryStore } from 'skein';
import { openSqliteStore } from 'skein/sqlite';
import { graph } from 'skein/graph';
const polite = (name) => 'Good morning, ' + name;
function greet({ who = 'Ada' }) {
  return polite(who);
}
const flow = graph({ name: 'greets' }).node(greet).node('loud', ({ greet: text }) => text.toUpperCase());
for (const store of [memoryStore(), await openSqliteStore('bundled.db')]) {
  const { outcome, state } = await flow.run({ who: 'Bo' }, { store });
  console.log(outcome, state.loud);
}
`;
    await writeFile(join(cwd, 'program.mjs'), text);
    for (const minify of [false, true]) {
      const file = minify ? 'minified.mjs' : 'bundled.mjs';
      const output = { file: join(cwd, file), minify, keepNames: true } as const;
      await build({ input: join(cwd, 'program.mjs'), external: /^skein(?:\/|$)/, platform: 'node', output });
      expect((await readFile(join(cwd, file), 'utf8')).trim().includes('\n')).toBe(!minify);
      const line = 'succeeded GOOD MORNING, BO\n';
      expect(await node(file)).toMatchObject({ code: 0, stdout: line + line, stderr: '' });
    }
  });

  test('passes on the licences of the packages that are built into it', async () => {
    const licences = await readFile(join(cwd, 'node_modules/skein/dist/LICENCES.txt'), 'utf8');
    const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    for (const name of [
      'yaml',
      'commander',
      'acorn',
      '@marcbachmann/cel-js',
      '@dagrejs/dagre',
      '@modelcontextprotocol/client',
    ])
      expect(licences).toContain(`${name} ${String(devDependencies[name])} (`);
    expect(licences).toMatch(/Permission is hereby granted|Permission to use/);
  });

  test('is another copy for a package that uses it: its graph runs by the program of the first copy all the same', async () => {
    const theirs = join(cwd, 'node_modules/others-flow');
    await mkdir(theirs);
    await writeFile(
      join(theirs, 'package.json'),
      '{ "name": "others-flow", "type": "module", "exports": "./flow.js" }',
    );
    const body = `import { agent, agentNode, graph } from 'skein/graph';
const writer = agent({ name: 'writer', model: 'mock/echo', instructions: 'You write.' });
export default graph({ name: 'theirs' })
  .node('place', () => 'from ' + import.meta.resolve('skein/graph'), { inputs: [] })
  .node('text', agentNode(writer, { taskParam: 'place' }))
  .setEntry('place');
`;
    await writeFile(join(theirs, 'flow.js'), body);
    await writeFile(join(cwd, 'theirs.mjs'), "export { default } from 'others-flow';\n");
    const end = await node(MAIN, 'run', 'theirs.mjs', '--trust', '--json', '--no-audit', '--no-store');
    expect(end.code, end.stderr).toBe(0);
    const copy = `from ${pathToFileURL(cwd).href}/node_modules/skein/dist/graph.js`;
    expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'succeeded', state: { text: copy } });
  });
});
