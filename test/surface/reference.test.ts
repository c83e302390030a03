import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from 'skein';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/reference.md'), 'utf8');

/** The names in the first cells of the tables below a heading. */
function listed(heading: string): readonly string[] {
  const [, section = ''] = PAGE.split(`\n${heading}\n`);
  const [own = ''] = section.split(/\n#+ /);
  return own
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

describe('the reference', () => {
  test('lists each code of an error once', () => {
    expect(listed('## Errors').toSorted()).toEqual([...ERROR_CODES].toSorted());
  });

  test.each([
    ['skein', () => import('skein')],
    ['skein/graph', () => import('skein/graph')],
    ['skein/tree', () => import('skein/tree')],
    ['skein/machine', () => import('skein/machine')],
    ['skein/yaml', () => import('skein/yaml')],
    ['skein/sqlite', () => import('skein/sqlite')],
    ['skein/testing', () => import('skein/testing')],
    ['skein/agent', () => import('skein/agent')],
  ])('lists each name of %s once', async (name, load) => {
    expect(listed(`### \`${name}\``).toSorted()).toEqual(Object.keys(await load()).toSorted());
  });
});
