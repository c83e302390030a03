import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { truncateText } from '../../src/lang/truncate.js';
import type { Truncate } from '../../src/lang/values.js';

describe('truncation', () => {
  it('keeps the first code points and says so after a blank line (statement 46)', () => {
    expect(truncateText('héllo wörld', { strategy: 'chars', limit: 4 })).toBe(
      'héll\n\n... [truncated: 11 chars total, showing first 4]',
    );
    expect(truncateText('👍👍👍', { strategy: 'chars', limit: 2 })).toBe(
      '👍👍\n\n... [truncated: 3 chars total, showing first 2]',
    );
  });

  it('does the same with lines (statement 47)', () => {
    expect(truncateText('a\nb\nc\n', { strategy: 'lines', limit: 2 })).toBe(
      'a\nb\n\n... [truncated: 4 lines total, showing first 2]',
    );
  });

  it('takes a token for four characters, and counts characters in the note (statement 48)', () => {
    expect(truncateText('123456789', { strategy: 'tokens', limit: 2 })).toBe(
      '12345678\n\n... [truncated: 9 chars total, showing first 8]',
    );
  });

  it('changes nothing at the limit (statement 49)', () => {
    expect(truncateText('👍👍', { strategy: 'chars', limit: 2 })).toBe('👍👍');
    expect(truncateText('a\nb', { strategy: 'lines', limit: 2 })).toBe('a\nb');
    expect(truncateText('12345678', { strategy: 'tokens', limit: 2 })).toBe('12345678');
    expect(truncateText('', { strategy: 'chars', limit: 0 })).toBe('');
  });

  it('changes nothing without a setting, with an unknown strategy, or a limit that is no count (statement 50)', () => {
    expect(truncateText('abc', undefined)).toBe('abc');
    expect(truncateText('abc', { strategy: 'words', limit: 1 } as unknown as Truncate)).toBe('abc');
    for (const limit of [-1, 1.5, Number.NaN, Infinity])
      expect(truncateText('abc', { strategy: 'chars', limit })).toBe('abc');
  });

  it('can keep the last part', () => {
    expect(truncateText('a👍b', { strategy: 'chars', limit: 2, keep: 'last' })).toBe(
      '👍b\n\n... [truncated: 3 chars total, showing last 2]',
    );
    expect(truncateText('a\nb\nc', { strategy: 'lines', limit: 1, keep: 'last' })).toBe(
      'c\n\n... [truncated: 3 lines total, showing last 1]',
    );
  });

  it('keeps nothing with a limit of 0', () => {
    for (const strategy of ['chars', 'lines', 'tokens'] as const) {
      expect(truncateText('abc', { strategy, limit: 0 })).toMatch(/^\n\n\.\.\. \[truncated: /);
    }
  });

  it('keeps whole code points, as many as the limit says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), fc.constantFrom('first', 'last'), (text, limit, keep) => {
        const points = Array.from(text);
        const result = truncateText(text, { strategy: 'chars', limit, keep });
        if (points.length <= limit) expect(result).toBe(text);
        else {
          const kept = keep === 'first' ? points.slice(0, limit) : points.slice(points.length - limit);
          const note = `\n\n... [truncated: ${points.length} chars total, showing ${keep} ${limit}]`;
          expect(result).toBe(kept.join('') + note);
        }
      }),
    );
  });

  it('keeps whole lines, as many as the limit says', () => {
    const lines = fc.array(
      fc.string({ maxLength: 3 }).map((line) => line.replaceAll('\n', '')),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(lines, fc.nat(10), fc.constantFrom('first', 'last'), (list, limit, keep) => {
        const result = truncateText(list.join('\n'), { strategy: 'lines', limit, keep });
        if (list.length <= limit) expect(result).toBe(list.join('\n'));
        else {
          const kept = keep === 'first' ? list.slice(0, limit) : list.slice(list.length - limit);
          expect(result.startsWith(`${kept.join('\n')}\n\n... [`)).toBe(true);
        }
      }),
    );
  });
});
