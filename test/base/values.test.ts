import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/base/duration.js';
import { canonicalHash, canonicalJson, sha256 } from '../../src/base/hash.js';
import { isAtLeast } from '../../src/base/text.js';
import { MAX_DEPTH, cloneData, freezeData, isPlainObject, ownValue } from '../../src/base/json.js';

describe('durations', () => {
  test.each([
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    [' 10m ', 600_000],
    ['0', 0],
  ])('%j is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '90', '5 m', 's', '-1s', '1h-', '1.s', '1e3s', 'soon', '9'.repeat(65), `${'9'.repeat(400)}s`])(
    '%j is none',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  test.each([
    [250, '250ms'],
    [999.6, '1000ms'],
    [4_200, '4.2s'],
    [185_000, '3m 05s'],
    [7_800_000, '2h 10m'],
  ])('%d ms reads %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('canonical JSON', () => {
  test('has sorted keys, no white space, and no undefined', () => {
    expect(canonicalJson({ b: 1, a: [true, null, undefined], 'a b': 'é\n', none: undefined })).toBe(
      '{"a":[true,null,null],"a b":"é\\n","b":1}',
    );
    expect(canonicalJson(Object.assign(Object.create(null) as object, { z: -0 }))).toBe('{"z":0}');
  });

  test('is the same for equal data, whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
        const turned = Object.fromEntries(Object.entries(data).toReversed());
        expect(canonicalHash(turned)).toBe(canonicalHash(data));
        // JSON has one zero.
        expect(JSON.parse(canonicalJson(data))).toEqual(JSON.parse(JSON.stringify(data)));
      }),
    );
  });

  test('tells different data apart', () => {
    const values = [{}, [], '', 0, '0', null, false, { a: 1 }, { a: '1' }, [1, 2], [2, 1], ['1,2']];
    expect(new Set(values.map(canonicalHash)).size).toBe(values.length);
  });

  const circle: unknown[] = [];
  circle.push({ circle });
  test.each([
    ['NaN', Number.NaN],
    ['Infinity', Infinity],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a date', new Date(0)],
    ['what contains itself', circle],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson({ value })).toThrow(TypeError);
  });

  test('takes a value that stands in two places', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  test('digests are those of SHA-256', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(canonicalHash({ b: 1, a: 2 })).toBe(sha256('{"a":2,"b":1}'));
  });
});

describe('plain data', () => {
  test('what counts as a plain object', () => {
    for (const value of [{}, Object.create(null), JSON.parse('{"__proto__":1}')])
      expect(isPlainObject(value)).toBe(true);
    for (const value of [[], null, 'x', new Date(0), new Map(), () => 1, Object.create({})])
      expect(isPlainObject(value)).toBe(false);
  });

  test('a copy shares nothing that can change, and keeps a key __proto__ as a key', () => {
    const data = JSON.parse('{"list":[{"a":1}],"__proto__":{"polluted":true}}') as Record<string, unknown>;
    const copy = cloneData(data);
    expect(copy).toEqual(data);
    expect(copy['list']).not.toBe(data['list']);
    expect(Object.keys(copy)).toContain('__proto__');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((copy as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('class instances and functions are shared as they are', () => {
    const date = new Date(0);
    expect(cloneData({ date }).date).toBe(date);
    expect(Object.isFrozen(freezeData({ date }).date)).toBe(false);
  });

  test('freezing goes all the way down', () => {
    const data = freezeData({ list: [{ a: [1] }] });
    expect(() => (data.list[0] as { a: number[] }).a.push(2)).toThrow(TypeError);
  });

  test('a value that contains itself, or is nested too deep, is an error and no hang', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(() => cloneData(circle)).toThrow(RangeError);
    let deep: unknown = [];
    for (let level = 0; level < MAX_DEPTH + 2; level += 1) deep = [deep];
    expect(() => cloneData(deep)).toThrow(RangeError);
    expect(() => freezeData(deep)).toThrow(RangeError);
  });

  test('only own properties are read', () => {
    expect(ownValue({ a: 1 }, 'a')).toBe(1);
    for (const name of ['constructor', 'toString', '__proto__']) expect(ownValue({}, name)).toBeUndefined();
    expect(ownValue(undefined, 'a')).toBeUndefined();
    expect(ownValue('text', 'length')).toBeUndefined();
  });
});

describe('versions', () => {
  test.each([
    ['3.51.3', '3.51.3', true],
    ['3.53.0', '3.51.3', true],
    ['24.1.0-nightly', '20.19.0', true],
    ['20.19', '20.19.0', true],
    ['3.9.10', '3.51.3', false],
    ['3.51', '3.51.3', false],
    ['0', '3.51.3', false],
  ])('%s is not older than %s: %s', (version, oldest, is) => {
    expect(isAtLeast(version, oldest)).toBe(is);
  });

  test('are compared part by part, as numbers', () => {
    const version = fc.array(fc.nat(120), { minLength: 3, maxLength: 3 }).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(version, version, (one, other) => {
        expect(isAtLeast(one, other)).toBe(one.localeCompare(other, 'en', { numeric: true }) >= 0);
      }),
    );
  });
});
