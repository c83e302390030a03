import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Label, Level } from '../../src/guard/label.js';
import { CLEAN, Labels, MOST_SOURCES, TRUSTED } from '../../src/guard/label.js';

const LEVELS: readonly Level[] = ['trusted', 'vetted', 'untrusted'];

const label = fc
  .record({
    level: fc.constantFrom(...LEVELS),
    isPrivate: fc.boolean(),
    sources: fc.array(
      fc.integer({ min: 0, max: 90 }).map((n) => `file:${String(n).padStart(2, '0')}`),
      {
        maxLength: 60,
      },
    ),
  })
  .map((one): Label => one);

/** The union, on plain values: slow, and without numbers. */
function union(all: readonly Label[]): Label {
  const sources = [...new Set(all.flatMap((one) => one.sources))].toSorted();
  return {
    level: LEVELS[Math.max(0, ...all.map((one) => LEVELS.indexOf(one.level)))] ?? 'trusted',
    isPrivate: all.some((one) => one.isPrivate),
    sources: sources.slice(0, MOST_SOURCES),
    ...(sources.length > MOST_SOURCES ? { more: true as const } : {}),
  };
}

describe('the table of labels of a run', () => {
  it('[G1] begins with one that is trusted and public', () => {
    expect(new Labels().get(CLEAN)).toEqual(TRUSTED);
    expect(new Labels().of(TRUSTED)).toBe(CLEAN);
  });

  it('[G1] joins labels to their union of levels and sources, whatever the order and however often', () => {
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 6 }), fc.infiniteStream(fc.nat()), (all, picks) => {
        const labels = new Labels();
        const ids = all.map((one) => labels.of(one));
        // Any two are joined until one is left; now and then one is joined a second time.
        const left = [...ids, ...ids.slice(0, 2)];
        for (const pick of picks) {
          if (left.length === 1) break;
          const [a = CLEAN] = left.splice(pick % left.length, 1);
          const [b = CLEAN] = left.splice((pick >> 4) % left.length, 1);
          left.push(labels.join(a, b));
        }
        expect(labels.get(left[0] ?? CLEAN)).toEqual(union(all));
      }),
      { numRuns: 500 },
    );
  });

  it('gives equal labels the same number', () => {
    const labels = new Labels();
    const one = labels.of({ level: 'untrusted', isPrivate: false, sources: ['b', 'a', 'b'] });
    expect(labels.of({ level: 'untrusted', isPrivate: false, sources: ['a', 'b'] })).toBe(one);
    expect(labels.join(one, CLEAN)).toBe(one);
    expect(() => labels.get(99)).toThrow(RangeError);
  });
});
