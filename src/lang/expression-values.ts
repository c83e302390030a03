import { SkeinError } from '../base/errors.js';
import { isPlainObject, MAX_DEPTH } from '../base/json.js';
import { cel } from './on-demand.js';

/** Maximum length of a list that an expression may use. */
export const MAX_LIST = 10_000;

/**
 * A value as the expression language takes it: plain data, its objects as Maps. The language looks at `constructor` to tell the
 * type of an object; a Map keeps keys of the data out of its sight.
 *
 * @throws SkeinError SKEIN_TEMPLATE for a list of more than {@link MAX_LIST} items, or a value nested too deep.
 */
export function toCelValue(value: unknown, depth = 0): unknown {
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return null;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) throw new SkeinError('SKEIN_TEMPLATE', 'a value of an expression is nested too deep');
  if (Array.isArray(value)) {
    if (value.length > MAX_LIST) {
      throw new SkeinError('SKEIN_TEMPLATE', `a list of ${value.length} items is too long for an expression`, {
        hint: `expressions look at lists of ${MAX_LIST} items at most; use a code condition`,
      });
    }
    return value.map((item) => toCelValue(item, depth + 1));
  }
  if (!isPlainObject(value)) return null;
  return new Map(Object.keys(value).map((key) => [key, toCelValue(value[key], depth + 1)]));
}

/**
 * A value of the expression language as JSON data: whole numbers are numbers, a time is text as in RFC 3339, a duration a number of seconds
 * with an `s`, as the language has them in JSON. What an optional lacks is null.
 *
 * @throws TypeError for a value that JSON does not have
 */
export function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`the result is ${value}, which JSON does not have`);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof cel().Optional) return value.hasValue() ? toPlain(value.value()) : null;
  if (Array.isArray(value)) return value.map(toPlain);
  const entries = value instanceof Map ? [...value] : plainEntries(value);
  if (entries === undefined) return scalarOf(value);
  return Object.fromEntries(entries.map(([key, item]: [unknown, unknown]) => [String(key), toPlain(item)]));
}

function plainEntries(value: object): [string, unknown][] | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value) : undefined;
}

/** Times, durations and unsigned numbers are objects of the language's own. */
function scalarOf(value: object): string | number {
  if (value instanceof Uint8Array) throw new TypeError('the result is bytes, which JSON does not have');
  const inside: unknown = value.valueOf();
  if (typeof inside === 'bigint') return Number(inside);
  // The clock of the host is out of reach here, and so is its class: a time is what is text in JSON.
  const json: unknown = JSON.parse(JSON.stringify(value));
  if (typeof json === 'string') return json.replace('.000Z', 'Z');
  if (typeof inside === 'number') return `${inside / 1000}s`;
  throw new TypeError('the result is a type, which JSON does not have');
}

export interface Extent {
  /** Items to iterate over. */
  readonly count: number;
  readonly longest: number;
  /** Number of all items and characters inside it. */
  readonly size: number;
  /** The size of the largest value inside it. */
  readonly inner: number;
  /** Characters of the longest text, itself or inside it. */
  readonly text: number;
}

export const SCALAR: Extent = { count: 0, longest: 0, size: 1, inner: 1, text: 0 };

/** The extent of a value made by {@link toCelValue}. */
export function extentOf(value: unknown): Extent {
  if (typeof value === 'string') return { ...SCALAR, size: value.length + 1, text: value.length };
  const items = Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : undefined;
  if (items === undefined) return SCALAR;
  let longest = items.length;
  let size = 1;
  let inner = 1;
  let text = 0;
  for (const item of items) {
    const part = extentOf(item);
    longest = Math.max(longest, part.longest);
    size += part.size;
    inner = Math.max(inner, part.size);
    text = Math.max(text, part.text);
  }
  return { count: items.length, longest, size, inner, text };
}
