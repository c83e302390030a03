import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import type { JsonObject } from '../../src/base/json.js';
import { encodeDone, encodeRecord } from '../../src/journal/codec.js';
import type { DoneRecord, JournalRecord } from '../../src/journal/record.js';
import { RECORD_VERSION } from '../../src/journal/record.js';
import type { Lift } from '../../src/journal/schema.js';
import { readRecord, upcast } from '../../src/journal/schema.js';
import { anyJson, anyRecord } from './any-record.js';
import { FULL } from './examples.js';

function refusal(line: string): SkeinError {
  try {
    readRecord(line);
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_JOURNAL') return error;
    throw error;
  }
  throw new Error(`it was read: ${line}`);
}

const kinds = Object.entries(FULL) as [keyof typeof FULL, JournalRecord][];
/** A field of a record, `error.code` for one inside of a field; lines with another value there, and without it. */
interface Place {
  readonly kind: string;
  readonly place: string;
  readonly put: (value: unknown) => string;
  readonly drop: () => string;
}

/** Fields that have fields of their own; what is in other objects is data. */
const INNER = new Set(['plan', 'inputs', 'error', 'question', 'census']);

function placesOf(kind: string, record: object, prefix: string, line: (part: object) => string): Place[] {
  return Object.entries(record).flatMap(([name, value]: [string, unknown]) => {
    const { [name]: _, ...rest } = record as Record<string, unknown>;
    const put = (other: unknown): string => line({ ...record, [name]: other });
    const own = { kind, place: prefix + name, put, drop: () => line(rest) };
    return INNER.has(name) && prefix === '' ? [own, ...placesOf(kind, value as object, `${name}.`, put)] : [own];
  });
}

const places = kinds.flatMap(([kind, record]) =>
  placesOf(kind, { v: RECORD_VERSION, ...record }, '', (part) => JSON.stringify(part)),
);

const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  begin: ['parent', 'forget', 'plan.blob', 'inputs.value'],
  open: ['plan', 'plan.value', 'code', 'inputs'],
  start: ['id'],
  spent: ['part'],
  done: [
    'id',
    'reads',
    'ms',
    'error',
    'cleanup',
    'inline',
    'value',
    ...['hint', 'details', 'retryable', 'retryAfterMs', 'name'].map((name) => `error.${name}`),
  ],
  timer: ['id'],
  pause: ['question', 'question.choices', 'question.schema', 'question.evidence', 'due'],
  end: ['error'],
};

const TYPES: readonly (readonly [string, RegExp, readonly unknown[]])[] = [
  ['any JSON', /^(value|.*\.(value|details|schema|evidence))$/, []],
  ['a version', /^v$/, [null, '1', 0, -1, 0.5, RECORD_VERSION + 1, [1]]],
  ['a known word', /^(t|error\.code|outcome)$/, [null, 1, 'odd', '__proto__', ['done'], {}]],
  ['a number', /^(at|ms|due|error\.retryAfterMs)$/, [null, '1', true, [], {}]],
  ['a count', /^(fence|part|census\..*)$/, [null, '1', true, [], {}, -1, 0.5]],
  ['true', /^(cleanup|inline)$/, [null, false, 1, 'true']],
  ['true or false', /^error\.retryable$/, [null, 0, 'true']],
  ['a list of texts', /^(forget|question\.choices)$/, [null, 'a', 1, {}, [1], ['a', null]]],
  ['texts by name', /^(reads|code)$/, [null, 'a', 1, ['a'], { a: 1 }, { a: null }]],
  ['an object', /^(origin|body)$/, [null, 'a', 1, true, ['a']]],
  ['an object with fields', /^(plan|inputs|error|question|census|spent)$/, [null, 'a', 1, ['a'], { odd: 1 }]],
  ['text', /./, [null, 1, true, ['a'], {}]],
];

function typeAt(place: string): readonly [string, RegExp, readonly unknown[]] {
  const type = TYPES.find(([, pattern]) => pattern.test(place));
  if (type === undefined) throw new Error(`no type for ${place}`);
  return type;
}

describe('a record', () => {
  test('of any kind comes back as it was written, to the letter', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const line = encodeRecord(record);
        expect(line).not.toContain('\n');
        expect(encodeRecord(readRecord(line))).toBe(line);
        expect(isDeepStrictEqual(readRecord(line), record)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test.each(kinds)('%s with all its fields comes back', (_, record) => {
    expect(readRecord(encodeRecord(record))).toStrictEqual(record);
  });

  test('with a value that was text already comes back with the value', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const record: DoneRecord = { t: 'done', at: 1, key: 'a' };
        const line = encodeDone(record, JSON.stringify(value));
        expect(line).toBe(encodeRecord({ ...record, value }));
        expect(isDeepStrictEqual(readRecord(line), { ...record, value })).toBe(true);
      }),
    );
  });

  test.each(places)('$kind: without $place it is refused, unless that is optional', ({ kind, place, drop }) => {
    if (OPTIONAL[kind]?.includes(place) === true) expect(() => readRecord(drop())).not.toThrow();
    else expect(refusal(drop()).message).toMatch(place === 'v' || place === 't' ? `'${place}'` : `${place} is missing`);
  });

  test.each(places)('$kind: $place of another type is refused, and named', ({ place, put }) => {
    const [type, , wrong] = typeAt(place);
    for (const value of wrong) expect(refusal(put(value)).message, JSON.stringify(value)).toContain(place);
    if (type !== 'any JSON') return;
    for (const value of [null, false, 1, 'a', [], {}, [{ a: 1 }]]) expect(() => readRecord(put(value))).not.toThrow();
  });

  test.each(kinds)('%s: a field that it does not have is refused, and named', (kind, record) => {
    const own = places.filter((place) => place.kind === kind && INNER.has(place.place));
    expect(refusal(JSON.stringify({ v: 1, ...record, odd: 1 })).message).toBe('"odd" is not one of its fields');
    expect(refusal(`{"__proto__":{},${JSON.stringify({ v: 1, ...record }).slice(1)}`).message).toContain('__proto__');
    for (const { place, put } of own) {
      const inside = (record as unknown as Record<string, JsonObject>)[place];
      const value = { ...inside, constructor: 1 };
      expect(refusal(put(value)).message).toBe(`"${place}.constructor" is not one of its fields`);
    }
  });

  test('has a value in place or a blob, not both', () => {
    expect(refusal('{"v":1,"t":"done","at":1,"key":"a","value":null,"blob":"b"}').message).toContain('both');
  });

  test.each([
    ['', 'not JSON'],
    ['{"v":1,"t":"start"', 'not JSON'],
    ['{"v":1} {"v":1}', 'not JSON'],
    ['null', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['"done"', 'not a JSON object'],
    ['{"t":"done","at":1,"key":"a"}', "'v' is not a record version"],
    ['{"v":1,"at":1,"key":"a"}', "'t' is undefined"],
    ['{"v":1,"t":"toString","at":1}', '\'t\' is "toString"'],
    ['{"v":1,"t":"done","at":1e999,"key":"a"}', 'at has to be a number'],
  ])('%s is none: %s', (line, why) => {
    expect(refusal(line).message).toContain(why);
  });

  test('keeps keys that reach prototypes elsewhere as data', () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const record = readRecord(`{"v":1,"t":"done","at":1,"key":"__proto__","reads":{"__proto__":"d"},"value":${text}}`);
    if (record.t !== 'done') throw new Error(record.t);
    expect(JSON.stringify(record.value)).toBe(text);
    expect(Object.keys(record.reads ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(record.value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('an older record', () => {
  const lifts: readonly Lift[] = [
    ({ path, ...rest }) => ({ ...rest, key: path ?? '' }),
    (record) => ({ ...record, at: Number(record['seconds']) * 1_000 }),
  ];

  test('is lifted step by step, from the version that it has', () => {
    expect(upcast({ v: 1, path: 'a', seconds: 2 }, lifts)).toEqual({ v: 3, key: 'a', seconds: 2, at: 2_000 });
    expect(upcast({ v: 2, path: 'a', seconds: 2 }, lifts)).toEqual({ v: 3, path: 'a', seconds: 2, at: 2_000 });
    expect(upcast({ v: 3, path: 'a' }, lifts)).toEqual({ v: 3, path: 'a' });
  });

  test('is never changed in place', () => {
    const old = Object.freeze({ v: 1, path: 'a', seconds: 2 });
    expect(() => upcast(old, lifts)).not.toThrow();
  });

  test('of the version that is written needs nothing', () => {
    const record = { v: RECORD_VERSION, t: 'start' };
    expect(upcast(record)).toBe(record);
  });

  test('of a version to come is refused, and the way out is an upgrade', () => {
    expect(() => upcast({ v: 4 }, lifts)).toThrow(
      'newer Skein: it has version 4 of the records, this Skein knows versions up to 3',
    );
    const error = refusal(JSON.stringify({ v: RECORD_VERSION + 1, t: 'no such kind' }));
    expect(error.message).toContain('newer Skein');
    expect(error.hint).toContain('upgrade');
  });
});
