import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build } from 'vite';
import { run } from 'skein';
import { END, graph } from 'skein/graph';
import { research } from './fixtures/research.js';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-minified-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** The text of a module, as a bundler ships it. */
async function minified(file: string, minifier: 'oxc' | 'esbuild'): Promise<string> {
  const bundle = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: minifier,
      target: 'es2022',
      rolldownOptions: {
        input: file,
        preserveEntrySignatures: 'exports-only',
      },
    },
  });
  const [output] = Array.isArray(bundle) ? bundle : [bundle];
  if (output === undefined || !('output' in output)) throw new Error('nothing was built');
  return output.output[0].code;
}

describe('after minification', () => {
  test.each(['oxc', 'esbuild'] as const)('the same plan and the same result, with %s', async (minifier) => {
    const code = await minified(resolve(import.meta.dirname, 'fixtures/research.ts'), minifier);
    expect(code).not.toContain('archived');
    expect(code.trim().split('\n').length).toBeLessThan(4);
    const file = join(folder, `${minifier}.mjs`);
    await writeFile(file, code);
    const module = (await import(pathToFileURL(file).href)) as { readonly research: typeof research };
    const flow = module.research(graph, END).compile();
    expect(flow.plan).toEqual(research(graph, END).compile().plan);
    const inputs = { query: 'looms', depth: 3 };
    const { outcome, state } = await run(flow, { inputs }).result;
    expect([outcome, state]).toEqual([
      'succeeded',
      (await run(research(graph, END).compile(), { inputs }).result).state,
    ]);
    expect(state['report']).toBe('4 at report: looms 0');
  });
});
