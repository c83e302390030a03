import { isPlainObject } from '../base/json.js';
import { SkeinError } from '../base/errors.js';
import type { ReducerName } from './plan.js';

/**
 * How contributions to a channel are folded (S3). `open` makes the accumulator out of the first value (an input, or nothing),
 * `fold` takes one contribution in, `read` gives the value that nodes see.
 */
export interface Reducer {
  open(initial: unknown): unknown;
  fold(accumulator: unknown, contribution: unknown): unknown;
  read(accumulator: unknown): unknown;
  /** Its name, or the source text of its function: what another reducer made of the same contributions is another value (J2). */
  definition(): string;
}

/** A reducer function of a user: (value so far, contribution) => value. The value so far is undefined for the first one. */
export type ReducerFunction = (current: unknown, contribution: unknown) => unknown;

/**
 * A list that only grows, as a chain of its newest parts: taking one in costs the same at any length. The array that nodes see is made
 * when it is first read, and only the newest link that was read keeps one.
 */
interface Growing {
  readonly items: readonly unknown[];
  readonly before: Growing | undefined;
  readonly length: number;
  whole: readonly unknown[] | undefined;
}

function grow(before: Growing | undefined, items: readonly unknown[]): Growing {
  return { items, before, length: (before?.length ?? 0) + items.length, whole: undefined };
}

function wholeOf(newest: Growing): readonly unknown[] {
  if (newest.whole !== undefined) return newest.whole;
  const result: unknown[] = Array.from({ length: newest.length });
  let end = newest.length;
  const take = (link: Growing): Growing | undefined => {
    const part = link.whole ?? link.items;
    end -= part.length;
    for (let at = 0; at < part.length; at++) result[end + at] = part[at];
    const next = link.whole === undefined ? link.before : undefined;
    link.whole = undefined;
    return next;
  };
  let link = take(newest);
  while (link !== undefined) link = take(link);
  newest.whole = Object.freeze(result);
  return newest.whole;
}

function list(value: unknown, reducer: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new SkeinError('SKEIN_BAD_UPDATE', `reducer '${reducer}' needs a list, not ${typeof value}`);
}

function growing(name: 'append' | 'extend', items: (contribution: unknown) => readonly unknown[]): Reducer {
  return {
    open: (initial) => grow(undefined, list(initial, name)),
    fold: (accumulator, contribution) => grow(accumulator as Growing, items(contribution)),
    read: (accumulator) => wholeOf(accumulator as Growing),
    definition: () => name,
  };
}

/** A reducer whose accumulator is the value itself. */
function direct(fold: ReducerFunction, name?: string): Reducer {
  const definition = (): string => name ?? Function.prototype.toString.call(fold);
  return { open: (initial) => initial, fold, read: (accumulator) => accumulator, definition };
}

function add(current: unknown, contribution: unknown): unknown {
  if (current === undefined || current === null) return contribution;
  if (typeof current === 'number' && typeof contribution === 'number') return current + contribution;
  if (typeof current === 'string' && typeof contribution === 'string') return current + contribution;
  throw new SkeinError('SKEIN_BAD_UPDATE', `reducer 'add' can't add ${typeof contribution} to ${typeof current}`);
}

function mergeDict(current: unknown, contribution: unknown): unknown {
  if (current === undefined || current === null) return contribution;
  if (!isPlainObject(current) || !isPlainObject(contribution)) {
    throw new SkeinError('SKEIN_BAD_UPDATE', "reducer 'mergeDict' needs objects");
  }
  const merged: Record<string, unknown> = { ...current, ...contribution };
  return Object.freeze(merged);
}

const BUILT_IN: Readonly<Record<Exclude<ReducerName, 'code'>, Reducer>> = {
  append: growing('append', (contribution) => [contribution]),
  extend: growing('extend', (contribution) => list(contribution, 'extend')),
  add: direct(add, 'add'),
  mergeDict: direct(mergeDict, 'mergeDict'),
  last: direct((_current, contribution) => contribution, 'last'),
};

/**
 * The reducer of a channel: a built-in one, or a function of the user.
 *
 * - `append` makes a list of the contributions; `extend` joins lists; `add` adds numbers or texts;
 *   `mergeDict` merges objects, later keys win; `last` keeps the last contribution in plan order.
 *
 * @example
 * const reducer = reducerFor('append');
 * reducer.read(reducer.fold(reducer.open(undefined), 'a')); // ['a']
 */
export function reducerFor(name: Exclude<ReducerName, 'code'> | ReducerFunction): Reducer {
  return typeof name === 'function' ? direct(name) : BUILT_IN[name];
}
