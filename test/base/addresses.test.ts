import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Try } from '../../src/base/address.js';
import type { Address, Place } from '../../src/base/address.js';
import {
  formatAddress,
  isInside,
  nodeIdOf,
  nodePathOf,
  parseAddress,
  parseKey,
  pathOf,
  stepOf,
  triesOf,
} from '../../src/base/address.js';
import { cases } from '../thorough.js';

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

describe('[XP1] any address', () => {
  const id = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,5}$/);
  const number = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30 }));
  const hostile = fc.constantFrom(
    ']',
    '[',
    '/',
    '#2',
    '~2',
    '@x',
    '"',
    "'",
    '',
    ' ',
    '%',
    '%5D',
    '%ED',
    '%C3',
    '\n',
    '\u2028',
    '\u202E',
    '\uD800',
    '\uDC00',
    'ü',
    '日本',
    '🧵',
    '__proto__',
    '+',
    '\0',
  );
  const item = fc.oneof(
    fc.array(hostile, { maxLength: 5 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
    fc.string(),
  );
  const place: fc.Arbitrary<Place> = fc
    .record({
      id,
      visit: number,
      attempt: number,
      within: fc.oneof(
        fc.constant({}),
        item.map((key) => ({ item: key })),
        number.map((round) => ({ round })),
      ),
    })
    .map(({ within, ...rest }) => ({ ...rest, ...within }));
  const last = fc.record({ id, visit: number, attempt: number });
  const effect = fc.option(fc.string({ maxLength: 8 }), { nil: undefined });

  /** Nodes have one kind: those with rounds are loops everywhere. */
  const address = fc.tuple(fc.array(place, { maxLength: 4 }), last, effect).map(([around, own, name]): Address => {
    const named = around.map((each) => ({ ...each, id: each.round === undefined ? each.id : `${each.id}-loop` }));
    return { places: [...named, own], ...(name === undefined ? {} : { effect: name }) };
  });
  const isLoop = (ids: string): boolean => ids.endsWith('-loop');

  test('comes back from its text', () => {
    fc.assert(
      fc.property(address, (made) => {
        fc.pre(made.places.every((each) => each.round !== undefined || !each.id.endsWith('-loop')));
        const text = formatAddress(made);
        expect(parseAddress(text, isLoop)).toEqual(made);
        const again = parseAddress(text);
        expect(again === undefined ? undefined : formatAddress(again)).toBe(text);
        expect(formatAddress({ places: made.places })).not.toMatch(/[\n\0\u2028\u202E]/u);
      }),
      { numRuns: cases(1_000) },
    );
  });

  test('is understood in the same way by all that look at one', () => {
    fc.assert(
      fc.property(address, (made) => {
        const text = formatAddress(made);
        const { places } = made;
        const bare = { places: places.map((each) => ({ ...each, attempt: 1 })) };
        const step = formatAddress({ places });
        expect(stepOf(text)).toBe(step);
        expect(pathOf(step)).toBe(formatAddress(bare));
        expect(nodePathOf(step)).toBe(places.map((each) => each.id).join('/'));
        expect(nodeIdOf(step)).toBe(places.at(-1)?.id);
        expect(parseKey(text)).toEqual({
          path: formatAddress(bare),
          attempt: places.at(-1)?.attempt,
          name: made.effect,
        });
        places.forEach((_, at) => {
          const { round: _round, item: _item, ...outer } = bare.places[at] ?? { id: '', visit: 1, attempt: 1 };
          const around = formatAddress({ places: [...bare.places.slice(0, at), outer] });
          expect(isInside(pathOf(step), around)).toBe(true);
        });
        expect(triesOf(step).at(-1)).toMatchObject({ attempt: places.at(-1)?.attempt });
      }),
      { numRuns: cases(1_000) },
    );
  });
});

test.each([
  '',
  '/',
  'a/',
  '/a',
  'a//b',
  'a b',
  'a[',
  'a]',
  'a[k]b',
  'a#',
  'a#0',
  'a~0',
  'a#x',
  'a~',
  'a#1#2#3',
  'a[k][l]',
  'ä',
])('the text %j is not an address', (text) => {
  expect(parseAddress(text)).toBeUndefined();
});
