import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expressionMatcher, textMatcher } from '../../src/agent/tools/line-matcher.js';
import { cases } from '../thorough.js';
import { folder, session } from './support/session.js';

/** Expressions whose meaning is the same for all, small enough that the host's matcher is quick on them. */
const PIECES =
  'a b A 0 _ . \\. \\d \\D \\w \\W \\s \\S ^ $ \\b \\B [abc] [^ab] [a-c0-5] [\\d_] [^\\W0] [a-] [.*] \\x61 \\u0062 \\u{62} \\/ \\p{L}';
const single = fc.constantFrom(...PIECES.split(' '));
const repeated = fc
  .tuple(single, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '*?'))
  .map(([item, count]) => (['^', '$', '\\b', '\\B'].includes(item) ? item : item + count));
const sequence = fc.array(repeated, { maxLength: 4 }).map((items) => items.join(''));
const group = fc
  .tuple(fc.constantFrom('(', '(?:', '(?<n>', '(?=', '(?!'), sequence, fc.constantFrom('', '*', '+', '?'))
  .map(([open, inner, count]) => `${open}${inner})${open.endsWith('=') || open.endsWith('!') ? '' : count}`);
const expression = fc
  .tuple(sequence, fc.option(group), sequence, fc.option(sequence))
  .map(([before, inner, after, other]) => {
    const first = `${before}${inner ?? ''}${after}`;
    return other === null ? first : `${first}|${other}`;
  });
const line = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'A', 'B', '0', '9', '_', ' ', '.', '-', '\t', '/', '\u00e4'),
  maxLength: 12,
});

describe('expressions that grep searches for', () => {
  it.each([false, true])('mean what they mean to the host; ignore case: %s', async (ignoreCase) => {
    await fc.assert(
      fc.asyncProperty(expression, line, async (source, text) => {
        const host = new RegExp(source, ignoreCase ? 'iu' : 'u');
        expect((await expressionMatcher(source, ignoreCase)).test(text)).toBe(host.test(text));
      }),
      { numRuns: cases(300) },
    );
  });

  it.each(['(?<=a)b', '(a)\\1', '(a', 'a{2000}', '(?:(?:a{100}){100}){100}', 'x'.repeat(4_001), '('.repeat(60)])(
    'are refused when they can not be bounded: %j',
    async (source) => {
      await expect(expressionMatcher(source, false)).rejects.toMatchObject({ code: 'SKEIN_TOOL_FAILED' });
    },
  );

  it('cost what the line is long, whatever they are', async () => {
    for (const source of ['(a+)+$', '(a|aa)+$', '(.*a){10}$', 'a.{300}c', '(?=b)(a+)+$']) {
      const [short = 1, long = 0] = await Promise.all(
        [1_000, 2_000].map(async (length) => {
          const matcher = await expressionMatcher(source, false);
          matcher.test(`${'a'.repeat(length)}!`);
          return matcher.cost;
        }),
      );
      expect(long / short).toBeLessThan(2.2);
    }
  });

  it('leave out a line that would take too long', async () => {
    for (const source of ['(?:a?){900}b', '(?=.*b)(?:a?){900}b']) {
      const matcher = await expressionMatcher(source, false);
      expect(matcher.test('a'.repeat(1_000_000))).toBe(false);
      expect(matcher.gaveUp).toBe(true);
    }
    const quick = await expressionMatcher('a+b', false);
    expect(quick.test(`${'a'.repeat(1_000_000)}b`)).toBe(true);
    expect(quick.gaveUp).toBe(false);
  });
});

it('texts are found as they are', () => {
  expect(textMatcher('a.c', false).test('abc')).toBe(false);
  expect(textMatcher('A.C', true).test('xa.c')).toBe(true);
});

describe('a search for an expression with more states than can be kept', () => {
  /** Lines of letters in no order, and an end that the expression needs at its beginning. */
  const text = (lines: number): string => {
    let seed = 1;
    const letter = (): string => ((seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) & 0x10000 ? 'a' : 'b');
    return Array.from({ length: lines }, () => `c${Array.from({ length: 400 }, letter).join('')}\n`).join('');
  };

  it('lets others run, and ends when it is cancelled', async () => {
    const cwd = await folder();
    await writeFile(join(cwd, 'long.txt'), text(500));
    const { fails } = await session({ tools: ['grep'] }, { cwd });
    const stop = new AbortController();
    const input = { pattern: '[ab]*a[ab]{200}c', regex: true };
    const pause = setImmediate;
    let pauses = 0;
    vi.stubGlobal('setImmediate', (work: () => void) => {
      pauses += 1;
      if (pauses === 5) stop.abort();
      return pause(work);
    });
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    expect((await fails('grep', input, stop.signal)).code).toBe('SKEIN_CANCELLED');
    expect(pauses).toBe(5);
  });

  it('ends with a note when it gets too expensive', async () => {
    const cwd = await folder();
    await writeFile(join(cwd, 'long.txt'), text(30_000).replaceAll('a', 'x'));
    const { call } = await session({ tools: ['grep'] }, { cwd });
    expect(await call('grep', { pattern: '(?:x?){900}[cd]y', regex: true })).toContain('[stopped: the search got too');
  });
});
