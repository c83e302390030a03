import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../examples/support/run-example.js';

const FOLDERS = ['test/graph', 'test/notations/graph'];

/** The names of tests and groups of tests. */
async function namesOfTests(): Promise<readonly string[]> {
  const names: string[] = [];
  for (const folder of FOLDERS) {
    for (const file of await readdir(join(ROOT, folder))) {
      if (!/\.test(?:-d)?\.ts$/.test(file)) continue;
      const text = await readFile(join(ROOT, folder, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/['"`](\[\d+\] .*?|decision \d+: .*?)['"`],/g)) names.push(name);
    }
  }
  return names;
}

const NAMES = await namesOfTests();

test.each(Array.from({ length: 65 }, (_, at) => at + 1))('statement %i of the specification has a test', (number) => {
  expect(NAMES.filter((name) => name.startsWith(`[${number}] `))).not.toEqual([]);
});

test.each(Array.from({ length: 11 }, (_, at) => at + 1))('decision %i of the specification has a test', (number) => {
  expect(NAMES.filter((name) => name.includes(`decision ${number}: `))).not.toEqual([]);
});
