import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NOTHING_HELD, PatternSet } from '../../src/secrets/pattern-set.js';
import { createRedactor } from '../../src/secrets/redact.js';

const letters = (least: number, most: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: least, maxLength: most });

/** The slow and obvious way: each pattern is looked for at each place, and what overlaps is one stretch. */
function replaced(text: string, patterns: readonly string[]): string {
  const hidden = Array.from(text, () => false);
  const joined = Array.from(text, () => false);
  for (let at = 0; at < text.length; at++) {
    for (const pattern of patterns) {
      if (!text.startsWith(pattern, at)) continue;
      for (let i = at; i < at + pattern.length; i++) {
        hidden[i] = true;
        if (i > at) joined[i] = true;
      }
    }
  }
  return Array.from(text, (char, at) => (!hidden[at] ? char : joined[at] ? '' : '*')).join('');
}

test('[XS5] patterns are found as by looking for each at each place, whole and in pieces', () => {
  fc.assert(
    fc.property(
      fc.array(letters(1, 6), { maxLength: 5 }),
      fc.array(letters(0, 8), { maxLength: 8 }),
      (words, pieces) => {
        const patterns = new PatternSet(new Set(words));
        const expected = replaced(pieces.join(''), words);
        expect(patterns.replace(pieces.join(''), '*', true).text).toBe(expected);
        let held = NOTHING_HELD;
        let shown = '';
        for (const piece of pieces) {
          const step = patterns.replace(piece, '*', false, held);
          held = step.held;
          shown += step.text;
        }
        expect(shown + patterns.replace('', '*', true, held).text).toBe(expected);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('[XS5] a secret in JSON text inside of a structured value is found where the value is written as JSON', () => {
  const secret = 'pass"word\\with\nbreaks';
  const { text } = createRedactor([secret]);
  const nested = { answer: JSON.stringify({ key: secret, deeper: JSON.stringify([secret]) }) };
  const shown = text(JSON.stringify(nested, undefined, 2));
  expect(shown).not.toContain('word');
  expect(shown.match(/\[redacted\]/g)).toHaveLength(2);
});

test.each([
  ['Python', String.raw`"p\u00e4ssw\u00f6rt/geheim<&>1"`],
  ['PHP', String.raw`"p\u00e4ssw\u00f6rt\/geheim<&>1"`],
  ['Go', String.raw`"pässwört/geheim\u003c\u0026\u003e1"`],
])('[XS5] a secret is found in JSON text as %s writes it', (_, json) => {
  expect(createRedactor(['pässwört/geheim<&>1']).text(json)).toBe('"[redacted]"');
});
