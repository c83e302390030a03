import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PatternError, patternMatcher } from '../../src/lang/pattern/matcher.js';
import { cases } from '../thorough.js';

/** Expressions of the supported kind, small enough that the host's matcher is quick on them. */
const { expression } = fc.letrec<{
  expression: string;
  sequence: string;
  repeated: string;
  single: string;
  group: string;
}>((tie) => ({
  expression: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((options) => options.join('|')),
  sequence: fc.array(tie('repeated'), { maxLength: 4 }).map((items) => items.join('')),
  repeated: fc.oneof(
    { weight: 3, arbitrary: tie('single') },
    fc
      .tuple(
        tie('single').filter((text) => !['^', '$', '\\b', '\\B'].includes(text)),
        fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,}', '*?', '+?'),
      )
      .map(([item, count]) => item + count),
  ),
  single: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'a',
      'b',
      'c',
      'A',
      '0',
      '_',
      ' ',
      '.',
      '\\.',
      '\\d',
      '\\D',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '^',
      '$',
      '\\b',
      '\\B',
    ),
    fc.constantFrom(
      '[abc]',
      '[^ab]',
      '[a-c0-5]',
      '[\\d_]',
      '[^\\W0]',
      '[]a]',
      '[a-]',
      '[.*]',
      '\\x61',
      '\\u0062',
      '\\t',
      '{',
      '}',
    ),
    tie('group'),
  ),
  group: fc
    .tuple(fc.constantFrom('(', '(?:', '(?=', '(?!', '(?<n>'), tie('expression'))
    .map(([open, inner]) => `${open}${inner})`),
}));
const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'A', 'B', '0', '9', '_', ' ', '.', '-', '\t', '\u00e4', '{'),
  maxLength: 12,
});

describe('the linear matcher agrees with the host', () => {
  test.each([false, true])('ignore case: %s', (ignoreCase) => {
    fc.assert(
      fc.property(expression, text, (source, line) => {
        let host: RegExp;
        try {
          host = new RegExp(source.replaceAll('(?<n>', '('), ignoreCase ? 'i' : '');
        } catch {
          return;
        }
        expect(patternMatcher(source, { ignoreCase }).test(line)).toBe(host.test(line));
      }),
      { numRuns: cases(1_500) },
    );
  });

  test('one matcher can be used for many lines', () => {
    const matcher = patternMatcher('^b+$');
    expect(['bb', 'a', 'b', '', 'bbb', 'ab'].map((line) => matcher.test(line))).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
    ]);
  });
});

describe('what is refused', () => {
  test.each([
    '(?<=a)',
    '(?<!a)',
    '(?i:a)',
    '(a)\\1',
    '\\k<n>',
    '\\p{Nothing}',
    '\\p{L',
    '\\u{110000}',
    '*a',
    'a**',
    '(a',
    'a)',
    '[a',
    '\\',
    'a{3,1}',
    'a{2000}',
    '[z-a]',
    '(?:(?:a{100}){100}){100}',
    '(?:(?:(?:){1000}){1000}){1000}',
    'x'.repeat(4_001),
    '('.repeat(60),
  ])('%j', (source) => {
    let error: unknown;
    try {
      patternMatcher(source);
    } catch (thrown) {
      error = thrown;
    }
    expect(error instanceof PatternError).toBe(true);
  });
});

describe('cost', () => {
  test('grows with the length of the line, not faster, for expressions that make others hang', () => {
    for (const source of ['(a+)+$', '(a|aa)+$', '(a|a?)+$', '(.*a){10}$', '([a-zA-Z]+)*$', '(?=b)(a+)+$']) {
      const steps = [1_000, 2_000].map((length) => {
        const matcher = patternMatcher(source);
        matcher.test(`${'a'.repeat(length)}!`);
        return matcher.cost;
      });
      expect((steps[1] ?? 0) / (steps[0] ?? 1)).toBeLessThan(2.2);
    }
  });

  test('a line that takes too much is given up', () => {
    const matcher = patternMatcher('(?:a?){900}b');
    expect(matcher.test('a'.repeat(1_000_000))).toBe(false);
    expect(matcher.gaveUp).toBe(true);
  });
});
