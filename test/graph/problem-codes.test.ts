import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../examples/support/run-example.js';

/** The sources below a folder as one text. */
async function sourcesIn(folder: string): Promise<string> {
  const files = (await readdir(join(ROOT, folder), { recursive: true })).filter((name) => name.endsWith('.ts'));
  return (await Promise.all(files.map((name) => readFile(join(ROOT, folder, name), 'utf8')))).join('\n');
}

const guide = await readFile(join(ROOT, 'docs/graph.md'), 'utf8');
const table = /### Problems of a definition\n([\s\S]*?)\n### /.exec(guide)?.[1] ?? '';
const listed = table
  .split('\n')
  .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, code = '']) => code));

test('the guide lists every problem that a graph finds by itself', async () => {
  const source = `${await sourcesIn('src/notations/graph')}\n${await sourcesIn('src/graph')}`;
  const found = new Set([...source.matchAll(/\b(?:refusal|add)\(\s*'([a-z]+(?:-[a-z]+)+)'/g)].map(([, code]) => code));
  expect(found.size).toBeGreaterThan(15);
  expect([...found].filter((code = '') => !listed.includes(code))).toEqual([]);
});

test('the guide lists no problem that nothing finds', async () => {
  const source = await sourcesIn('src');
  expect(listed.filter((code) => !source.includes(`'${code}'`))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});
