import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CHAIN, MAIN, ROOT, makeProject, skein } from './support/skein.js';

/** Modules that a process evaluated: files of which the coverage of the JavaScript engine saw something, and what was built into them. */
async function loadedBy(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const folder = join(cwd, 'coverage');
  const end = await skein(words, { cwd, env: { NODE_V8_COVERAGE: folder } });
  expect(end.code).toBe(0);
  const urls = new Set<string>();
  for (const name of await readdir(folder)) {
    const report = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
      readonly result: readonly { url: string }[];
    };
    for (const { url } of report.result) if (url.startsWith('file:')) urls.add(url);
  }
  const files = [...urls].map((url) => fileURLToPath(url));
  expect(files).toContain(MAIN);
  return (await Promise.all(files.map(modulesIn))).flat().map((path) => relative(ROOT, path));
}

/** The modules that a built file was made of; the file itself where it was not built. */
async function modulesIn(file: string): Promise<readonly string[]> {
  if (!existsSync(`${file}.map`)) return [file];
  const { sources } = JSON.parse(await readFile(`${file}.map`, 'utf8')) as { readonly sources: readonly string[] };
  return sources.map((source) => resolve(dirname(file), source));
}

describe('start-up (statement 89)', () => {
  test('--version loads nothing but its own files', async () => {
    const loaded = await loadedBy(['--version'], await makeProject());
    const own = ['main', 'package-root', 'version-number', 'view/streams'].map((name) => `src/cli/${name}.ts`);
    expect(loaded.toSorted()).toEqual(own);
  });

  test('help loads the parser of the command line, and no part of a run', async () => {
    const loaded = await loadedBy(['help', 'run'], await makeProject());
    const other = loaded.filter(
      (name) => !/^(src\/(cli|base)|node_modules\/commander|dist\/chunks\/rolldown-runtime)\b/.test(name),
    );
    expect(other).toEqual([]);
  });

  test('validate loads no agents and no model packages', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const loaded = await loadedBy(['validate', 'flow.yaml'], cwd);
    expect(
      loaded.filter((name) => /@ai-sdk|modelcontextprotocol|\/zod\/|src\/(agent|engine|audit)\//.test(name)),
    ).toEqual([]);
  });

  test('a run without a provider loads no provider package, no tool and no tool server client', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const loaded = await loadedBy(['run', 'flow.yaml', '--mock'], cwd);
    expect(loaded.filter((name) => /@ai-sdk|modelcontextprotocol|\/zod\/|src\/agent\/mcp\//.test(name))).toEqual([]);
    expect(loaded).toContain('src/agent/models/echo.ts');
  });
});
