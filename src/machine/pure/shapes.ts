import { writtenTime } from '../../base/clock.js';
import { asRecorded, isPlainObject, setOwn } from '../../base/json.js';
import type { Problem, DataPlace } from '../../base/problem.js';
import { meantOrKnown } from '../../base/suggest.js';

export interface PlacedProblem {
  readonly problem: Problem;
  readonly keys: readonly string[];
}

/** Problems in the order in which they were found. */
export class Problems {
  readonly found: PlacedProblem[] = [];

  get messages(): string[] {
    return this.found.map(({ problem }) => problem.message);
  }

  add(place: DataPlace, problem: Problem): void {
    this.found.push({ problem, keys: place.keys });
  }

  /** Reports that the value at `place` does not have the required form. */
  wrong(place: DataPlace, rule: string, hint?: string): void {
    const message = `${place.text} ${rule}`;
    this.add(place, { code: 'wrong-form', severity: 'error', message, ...(hint === undefined ? {} : { hint }) });
  }
}

/** Reads a value of one form. Returns a copy, or undefined if it has problems. */
export type Shape<T> = (value: unknown, place: DataPlace, problems: Problems) => T | undefined;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 40))}`;
  if (typeof value === 'object') return 'an object';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a value of type ${typeof value}`;
}

function only<T>(what: string, is: (value: unknown) => value is T): Shape<T> {
  return (value, place, problems) => {
    if (is(value)) return value;
    problems.wrong(place, `must be ${what}, not ${kindOf(value)}`);
    return undefined;
  };
}

const object = only('an object', isPlainObject);
const list = only('a list', (value): value is unknown[] => Array.isArray(value));

export const text = only('a text', (value): value is string => typeof value === 'string');
export const flag = only('true or false', (value): value is boolean => typeof value === 'boolean');
export const count = only('a whole number of at least 0', (value): value is number => {
  return Number.isSafeInteger(value) && Number(value) >= 0;
});
export const integer = only('a whole number', (value): value is number => Number.isSafeInteger(value));
export const milliseconds = only('a number of at least 0', (value): value is number => {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
});

/** The format of RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

export const time = only('a time such as "2027-01-31T12:00:00Z"', (value): value is string => {
  return typeof value === 'string' && value.length <= 64 && TIME.test(value) && writtenTime(value) !== undefined;
});

export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  const isWord = (value: unknown): value is T => words.some((word) => word === value);
  return only(words.map((word) => JSON.stringify(word)).join(' or '), isWord);
}

export const json: Shape<Record<string, unknown>> = (value, place, problems) => {
  const read = object(value, place, problems);
  try {
    return read === undefined ? undefined : (asRecorded(read) as Record<string, unknown>);
  } catch (error) {
    problems.wrong(place, `must be JSON: ${error instanceof Error ? error.message : 'it is not'}`);
    return undefined;
  }
};

export function listOf<T>(shape: Shape<T>): Shape<T[]> {
  return (value, place, problems) =>
    list(value, place, problems)?.flatMap((item, at) => shape(item, place.item(at), problems) ?? []);
}

/** An object whose keys are names chosen by the author. `__proto__` is an ordinary key. */
export function record<T>(shape: Shape<T>): Shape<Record<string, T>> {
  return (value, place, problems) => {
    const read = object(value, place, problems);
    if (read === undefined) return undefined;
    const result: Record<string, T> = {};
    for (const key of Object.keys(read)) {
      const item = shape(read[key], place.named(key), problems);
      if (item !== undefined) setOwn(result, key, item);
    }
    return result;
  };
}

export type Fields<T> = { readonly [K in keyof T]-?: Shape<Exclude<T[K], undefined>> };

/** An object with fixed keys. If it is `closed`, other keys are problems; otherwise they are left out. */
export function fields<T extends object>(
  form: Fields<T>,
  required: readonly (keyof T & string)[],
  rest: 'closed' | 'open',
): Shape<T> {
  const keys = Object.keys(form) as (keyof T & string)[];
  return (value, place, problems) => {
    const read = object(value, place, problems);
    if (read === undefined) return undefined;
    const result: Partial<T> = {};
    for (const key of keys) {
      if (!Object.hasOwn(read, key) || read[key] === undefined) continue;
      const item = form[key](read[key], place.field(key), problems);
      if (item !== undefined) result[key] = item;
    }
    for (const key of required) {
      if (!Object.hasOwn(read, key) || read[key] === undefined) problems.wrong(place.field(key), 'is missing');
    }
    const unknown = rest === 'open' ? [] : Object.keys(read).filter((key) => !Object.hasOwn(form, key));
    for (const key of unknown) problems.wrong(place.named(key), 'is not a known key', meantOrKnown(key, keys, 'keys'));
    return result as T;
  };
}
