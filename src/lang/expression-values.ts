import { SkeinError } from '../base/errors.js';
import { isPlainObject, MAX_DEPTH } from '../base/json.js';

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

/** Upper bounds of a value. */
export interface Extent {
  /** Items to iterate over. */
  readonly count: number;
  /** Items of the longest list in it. */
  readonly longest: number;
  /** Number of all items and characters inside it. */
  readonly size: number;
  /** The size of the largest value inside it. */
  readonly inner: number;
  /** Characters of the longest text, itself or inside it. */
  readonly text: number;
}

/** The extent of a value without parts. */
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
