import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWildcard, matchesWildcard } from '../../src/lang/wildcard.js';

describe('patterns', () => {
  it.each([
    ['rm *', 'rm -rf /', true],
    ['rm *', 'rm', false],
    ['rm*', 'rm', true],
    ['*', '', true],
    ['*', 'a\nb', true],
    ['', '', true],
    ['', 'a', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['*.ts', 'src/a.ts', true],
    ['*a*b', 'xaxbxab', true],
    ['*a*b', 'xaxbxa', false],
    ['a.c', 'abc', false],
    ['Rm', 'rm', false],
  ])('%j and %j: %s', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text)).toBe(expected);
  });

  it('say what a regular expression would say', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
    const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 10 });
    fc.assert(
      fc.property(letters, words, (pattern, text) => {
        const source = pattern.replaceAll('*', '.*').replaceAll('?', '.');
        expect(matchesWildcard(pattern, text)).toBe(new RegExp(`^${source}$`, 's').test(text));
      }),
    );
  });

  it('of many stars end', () => {
    expect(matchesWildcard(`${'*a'.repeat(200)}b`, 'a'.repeat(10_000))).toBe(false);
  });

  it('are told from plain texts', () => {
    expect(['edit_*', 'a?', 'edit_file'].map(isWildcard)).toEqual([true, true, false]);
  });
});
