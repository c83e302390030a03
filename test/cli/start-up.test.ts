import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, makeProject, skein } from './support/skein.js';

/** Modules that a process loaded, by what the coverage of the JavaScript engine saw of them. */
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
  expect([...urls]).toContainEqual(expect.stringMatching(/dist\/cli\/main\.js$/));
  return [...urls].map((url) => url.replace(/^.*\/(?=dist\/|node_modules\/)/, ''));
}

describe('start-up (statement 89)', () => {
  test('--version loads nothing but its own files', async () => {
    const loaded = await loadedBy(['--version'], await makeProject());
    expect(loaded.toSorted()).toEqual(['dist/cli/main.js', 'dist/cli/version-number.js', 'dist/cli/view/streams.js']);
  });

  test('help loads the parser of the command line, and no part of a run', async () => {
    const loaded = await loadedBy(['help', 'run'], await makeProject());
    const other = loaded.filter((name) => !/^(dist\/(cli|base)|node_modules\/commander)\//.test(name));
    expect(other).toEqual([]);
  });

  test('validate loads no agents and no model packages', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const loaded = await loadedBy(['validate', 'flow.yaml'], cwd);
    expect(
      loaded.filter((name) => /@ai-sdk|modelcontextprotocol|\/zod\/|dist\/(agent|engine|audit)\//.test(name)),
    ).toEqual([]);
  });

  test('a run without a provider loads no provider package, no tool and no tool server client', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const loaded = await loadedBy(['run', 'flow.yaml', '--mock'], cwd);
    expect(loaded.filter((name) => /@ai-sdk|modelcontextprotocol|\/zod\/|dist\/agent\/mcp\//.test(name))).toEqual([]);
    expect(loaded).toContain('dist/agent/models/echo.js');
  });
});
