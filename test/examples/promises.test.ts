import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './support/run-example.js';

/** The design lies beside the repository where it is worked on, and is no part of it. */
const DESIGN = join(ROOT, '../shared/design');
const missing = existsSync(join(DESIGN, 'SECURITY.md')) && existsSync(join(DESIGN, 'DESIGN.md')) ? '' : DESIGN;
if (missing !== '') console.info('note: the design is not beside the repository; its promises are not compared');

const guide = await readFile(join(ROOT, 'docs/durability.md'), 'utf8');

/** Text without the places of its line ends. */
function words(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** What stands between two texts. */
function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start + from.length);
  if (start === -1 || end === -1) throw new Error(`nothing stands between ${from} and ${to}`);
  return words(text.slice(start + from.length, end));
}

describe.skipIf(missing !== '')('docs/durability.md has the promises of the design, word for word', () => {
  test('that about records and effects', async () => {
    const design = await readFile(join(DESIGN, 'DESIGN.md'), 'utf8');
    const promise = between(design, 'Promise to users: ', '\n- **J7**');
    expect(promise).toMatch(/^the engine's records exactly once; .*honours the key\.$/);
    expect(words(guide).toLowerCase()).toContain(` ${promise.toLowerCase()} `);
  });

  test('those of (a) to (e)', async () => {
    const design = await readFile(join(DESIGN, 'SECURITY.md'), 'utf8');
    const promises = between(design, 'Our promise, to be printed in the docs word for word:', '\n## ');
    for (const letter of 'abcde') expect(promises).toContain(`(${letter}) `);
    expect(words(guide)).toContain(promises);
  });
});

test('docs/durability.md says what each mode survives', () => {
  const rows = guide.split('\n').filter((line) => line.startsWith('| '));
  for (const mode of ['no store', 'memory store', '`fast`', '`full`']) {
    expect(rows.filter((row) => row.startsWith(`| ${mode}`))).toHaveLength(1);
  }
});
