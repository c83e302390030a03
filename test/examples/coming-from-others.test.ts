import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './support/run-example.js';

const PAGE = await readFile(join(ROOT, 'docs/coming-from-others.md'), 'utf8');
const HEADINGS = [...PAGE.matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? '');

test('every pair of docs/coming-from-others.md has a section, and every section but the last one shows a workflow', () => {
  const linked = [...PAGE.matchAll(/^\| \[[^\]]+\]\(#([\w-]+)\)/gm)].map((match) => match[1]);
  expect(linked).toEqual(HEADINGS.map((heading) => heading.toLowerCase().replaceAll(' ', '-')));
  const sections = PAGE.split(/^## /m).slice(1);
  const without = sections.filter((section) => !section.includes('```yaml\n')).map((section) => section.split('\n')[0]);
  expect(without).toEqual(['What has no counterpart']);
});
