import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Try } from '../../src/journal/address.js';
import { isInside, parseKey, pathOf, stepOf, triesOf } from '../../src/journal/address.js';

test.each<[string, string, number, string | undefined]>([
  ['a', 'a', 1, undefined],
  ['a~2', 'a', 2, undefined],
  ['a.b-c_d@timer', 'a.b-c_d', 1, 'timer'],
  ['a#2~13@backoff', 'a#2', 13, 'backoff'],
  ['a@timeout~2', 'a', 1, 'timeout~2'],
  ['a@ask:me@home~3', 'a', 1, 'ask:me@home~3'],
  ['a@tool#1.2', 'a', 1, 'tool#1.2'],
  ['a@', 'a', 1, ''],
  ['call~2/inner', 'call/inner', 1, undefined],
  ['call~2/inner~3@model#1', 'call/inner', 3, 'model#1'],
  ['loop#2~4#3/x', 'loop#2#3/x', 1, undefined],
  ['scan[a@b~2#3]/read', 'scan[a@b~2#3]/read', 1, undefined],
  ['scan~2[a@b~2]/read~5@open', 'scan[a@b~2]/read', 5, 'open'],
  ['scan[x]/deep[y@z]/q@answer', 'scan[x]/deep[y@z]/q', 1, 'answer'],
  ['scan[x]@close', 'scan[x]', 1, 'close'],
  ['a@b[c]', 'a', 1, 'b[c]'],
  ['scan[__proto__]/x', 'scan[__proto__]/x', 1, undefined],
  ['', '', 1, undefined],
])('the key %s', (key, path, attempt, name) => {
  expect(parseKey(key)).toEqual({ path, attempt, name });
});

test.each<[string, string, boolean]>([
  ['a', 'a', true],
  ['a/b', 'a', true],
  ['a[k]/b', 'a', true],
  ['a#2', 'a', true],
  ['a#2/b', 'a', true],
  ['a#2/b', 'a#2', true],
  ['a#12', 'a#1', false],
  ['ab', 'a', false],
  ['a.b', 'a', false],
  ['a-b/c', 'a', false],
  ['a', 'a/b', false],
  ['b/a', 'a', false],
  ['a[k]/b', 'a[k]', true],
  ['a[kk]/b', 'a[k]', false],
])('%s is inside of %s: %s', (path, step, inside) => {
  expect(isInside(path, step)).toBe(inside);
});

function tries(step: string): string[] {
  const mark: Record<Try['loop'], string> = { no: '', yes: ' loop', maybe: ' loop?' };
  return triesOf(step).map(({ of, attempt, loop }) => `${of} ${attempt}${mark[loop]}`);
}

test.each<[string, readonly string[]]>([
  ['a', ['a 1']],
  ['a~3', ['a 3']],
  ['a#2', ['a#2 1']],
  ['a#2~3', ['a#2 3']],
  ['call~2/b', ['call 2', 'call~2/b 1']],
  ['call/b~2/c', ['call 1', 'call/b 2', 'call/b~2/c 1']],
  ['m~2[k~7@x]/b~3', ['m 2', 'm~2[k~7@x]/b 3']],
  ['m#2[k]/b', ['m#2 1', 'm#2[k]/b 1']],
  ['loop#1/b', ['loop 1 loop', 'loop#1/b 1']],
  ['loop~2#3/b', ['loop 2 loop', 'loop~2#3/b 1']],
  ['loop#2#3/b', ['loop#2 1 loop', 'loop#2#3/b 1']],
  ['loop#2~4#3/b', ['loop#2 4 loop', 'loop#2~4#3/b 1']],
  ['call#2~3/b', ['call#2 3', 'call#2~3/b 1']],
  ['x#2/b', ['x#2 1', 'x 1 loop?', 'x#2/b 1']],
])('the step %s is a try of %j', (step, expected) => {
  expect(tries(step)).toEqual(expected);
});

describe('any key that the engine makes', () => {
  const number = fc.integer({ min: 2, max: 12 });
  const suffix = (sign: string) => fc.option(number, { nil: 0 }).map((n) => (n === 0 ? '' : `${sign}${n}`));
  const id = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,5}$/);
  const itemKey = fc.stringMatching(/^[^/[\]\s]{1,6}$/);
  const step = fc.record({ id, visit: suffix('#'), attempt: suffix('~') });
  const inside = fc.record({
    step,
    way: fc.oneof(
      fc.constant(''),
      itemKey.map((key) => `[${key}]`),
      suffix('#'),
    ),
  });
  const name = fc.option(fc.string({ maxLength: 8 }), { nil: undefined });

  test('is taken apart into what it was made of', () => {
    fc.assert(
      fc.property(fc.array(inside, { maxLength: 3 }), step, name, (around, own, called) => {
        const before = around
          .map((each) => `${each.step.id}${each.step.visit}${each.step.attempt}${each.way}/`)
          .join('');
        const seen = around.map((each) => `${each.step.id}${each.step.visit}${each.way}/`).join('');
        const whole = `${before}${own.id}${own.visit}${own.attempt}`;
        const key = called === undefined ? whole : `${whole}@${called}`;
        const path = `${seen}${own.id}${own.visit}`;
        expect(parseKey(key)).toEqual({ path, attempt: Number(own.attempt.slice(1) || 1), name: called });
        expect(stepOf(key)).toBe(whole);
        expect(pathOf(whole)).toBe(path);
        for (let i = 0; i < around.length; i++) {
          const outer = around.slice(0, i + 1).map(({ step: { id: ofStep, visit }, way }, at) => {
            return `${ofStep}${visit}${at < i ? `${way}/` : ''}`;
          });
          expect(isInside(path, outer.join(''))).toBe(true);
        }
        const outermost = triesOf(whole)[0];
        expect(whole.startsWith(outermost?.of ?? '?')).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

test('any text is taken apart somehow', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a@~#[\]/0-9]{0,12}$/)), (key) => {
      const { path, attempt } = parseKey(key);
      expect(path.length).toBeLessThanOrEqual(key.length);
      expect(attempt).toBeGreaterThanOrEqual(0);
      expect(key.startsWith(stepOf(key))).toBe(true);
    }),
  );
});
