import { isLate } from '../base/at-once.js';
import { isPlainObject } from '../base/json.js';
import { Kept } from '../base/kept.js';
import { SkeinError } from '../base/errors.js';
import { NOTHING, endOf, grow, reopenedList, wholeOf, windowOn, type Growing } from './growing-list.js';
import type { ReducerName } from './plan.js';

/**
 * Folds contributions to a channel (S3). `open` makes the accumulator from the first value (an input, or undefined), `fold` adds one
 * contribution, `read` returns the value that nodes see.
 */
export interface Reducer {
  open(initial: unknown): unknown;
  fold(accumulator: unknown, contribution: unknown): unknown;
  read(accumulator: unknown): unknown;
  /**
   * Returns the value for readers of its length and single entries only, without assembling it. Undefined or absent: the value is read as
   * usual.
   */
  glance?(accumulator: unknown): unknown;
  /** Returns at least this many of the last entries; a shorter list is returned whole. Absent: the whole list is read. */
  end?(accumulator: unknown, count: number): readonly unknown[];
  /** Returns the reducer's name, or its function's source text: another reducer makes another value of the same contributions (J2). */
  definition(): string;
  /** Continues from a value stored elsewhere, which is read when needed. */
  reopen(kept: Kept): unknown;
  /** Returns what was added since a stored value, of the same type; undefined if the accumulator is not that value with additions. */
  added?(accumulator: unknown, kept: Kept): unknown;
  /** Returns whether reading the accumulator would read a stored value. */
  isUnread(accumulator: unknown): boolean;
}

/** A user's reducer function: (value so far, contribution) => value. The value so far is undefined for the first one. */
export type ReducerFunction = (current: unknown, contribution: unknown) => unknown;

function list(value: unknown, reducer: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new SkeinError('SKEIN_BAD_UPDATE', `reducer '${reducer}' needs a list, not ${typeof value}`);
}

function growing(name: 'append' | 'extend', items: (contribution: unknown) => readonly unknown[]): Reducer {
  return {
    open: (initial) => grow(NOTHING, list(initial, name)),
    fold: (accumulator, contribution) => grow(accumulator as Growing, items(contribution)),
    read: (accumulator) => wholeOf(accumulator as Growing),
    glance: (accumulator) => windowOn(accumulator as Growing),
    end: (accumulator, count) => endOf(accumulator as Growing, count),
    definition: () => name,
    reopen: reopenedList,
    added(accumulator, kept) {
      const { kept: before, entries, length } = accumulator as Growing;
      return before === kept ? entries.all.slice(0, length) : undefined;
    },
    isUnread: (accumulator) => (accumulator as Growing).kept?.isRead === false,
  };
}

/** Makes a reducer whose accumulator is the value itself, or its stored form. */
function direct(fold: ReducerFunction, name?: string): Reducer {
  const definition = (): string => name ?? Function.prototype.toString.call(fold);
  return {
    open: (initial) => initial,
    fold: (accumulator, contribution) => folded(fold(valueOf(accumulator), contribution)),
    read: valueOf,
    definition,
    reopen: (kept) => kept,
    isUnread: (accumulator) => accumulator instanceof Kept && !accumulator.isRead,
  };
}

/** A promise would be the state of a run that succeeded, with nothing in it. */
function folded(value: unknown): unknown {
  if (!isLate(value)) return value;
  throw new SkeinError('SKEIN_BAD_UPDATE', 'the reducer returned a promise', {
    hint: 'a reducer returns its value at once: do what takes time in the node',
  });
}

function valueOf(accumulator: unknown): unknown {
  return accumulator instanceof Kept ? accumulator.value : accumulator;
}

class Longer {
  constructor(
    readonly kept: Kept,
    readonly more: string,
  ) {}
}

const adding: Reducer = {
  ...direct(add, 'add'),
  fold(accumulator, contribution) {
    const kept = accumulator instanceof Longer ? accumulator : longer(accumulator);
    if (kept === undefined || typeof contribution !== 'string') return add(addedUp(accumulator), contribution);
    return new Longer(kept.kept, kept.more + contribution);
  },
  read: addedUp,
  added(accumulator, kept) {
    return accumulator instanceof Longer && accumulator.kept === kept ? accumulator.more : undefined;
  },
  isUnread: (accumulator) => {
    const kept = accumulator instanceof Longer ? accumulator.kept : accumulator;
    return kept instanceof Kept && !kept.isRead;
  },
};

function longer(accumulator: unknown): Longer | undefined {
  return accumulator instanceof Kept && accumulator.kind === 'text' ? new Longer(accumulator, '') : undefined;
}

function addedUp(accumulator: unknown): unknown {
  return accumulator instanceof Longer
    ? `${accumulator.kept.value as string}${accumulator.more}`
    : valueOf(accumulator);
}

function add(current: unknown, contribution: unknown): unknown {
  if (current === undefined || current === null) return contribution;
  if (typeof current === 'number' && typeof contribution === 'number') return current + contribution;
  if (typeof current === 'string' && typeof contribution === 'string') return current + contribution;
  throw new SkeinError('SKEIN_BAD_UPDATE', `reducer 'add' can't add ${typeof contribution} to ${typeof current}`);
}

/** An object with additions, and its number of keys without them. Adding costs only the additions; a read merges them. */
interface Merging {
  /** The stored object that this one continues, which is not in `base`. */
  readonly kept: Kept | undefined;
  base: unknown;
  keys: number;
  added: Growing;
}

/** Additions are merged after this many, or after as many as there are keys. */
const MOST_ADDED = 32;

function merging(base: unknown): Merging {
  return { kept: undefined, base, keys: isPlainObject(base) ? Object.keys(base).length : 0, added: NOTHING };
}

function mergeDict(current: Merging, contribution: unknown): Merging {
  const { kept, base, keys, added } = current;
  if (base === undefined || base === null) return merging(contribution);
  if (!isPlainObject(base) || !isPlainObject(contribution)) {
    throw new SkeinError('SKEIN_BAD_UPDATE', "reducer 'mergeDict' needs objects");
  }
  const next: Merging = { kept, base, keys, added: grow(added, [contribution]) };
  if (next.added.length >= Math.max(MOST_ADDED, keys)) mergedDict(next);
  return next;
}

/** Merges the parts of an object into its new base. */
function mergedDict(dict: Merging): unknown {
  if (dict.added.length === 0) return dict.base;
  const merged = new Map(Object.entries(dict.base as object));
  for (let at = 0; at < dict.added.length; at++) {
    for (const [key, value] of Object.entries(dict.added.entries.all[at] as object)) merged.set(key, value);
  }
  dict.base = Object.freeze(Object.fromEntries(merged));
  dict.keys = merged.size;
  dict.added = NOTHING;
  return dict.base;
}

/** Returns the object with the stored one that it continues. */
function wholeDict(dict: Merging): unknown {
  const own = mergedDict(dict);
  if (dict.kept === undefined) return own;
  const all = new Map([...Object.entries(dict.kept.value as object), ...Object.entries(own as object)]);
  return Object.freeze(Object.fromEntries(all));
}

const BUILT_IN: Readonly<Record<Exclude<ReducerName, 'code'>, Reducer>> = {
  append: growing('append', (contribution) => [contribution]),
  extend: growing('extend', (contribution) => list(contribution, 'extend')),
  add: adding,
  mergeDict: {
    open: merging,
    fold: (accumulator, contribution) => mergeDict(accumulator as Merging, contribution),
    read: (accumulator) => wholeDict(accumulator as Merging),
    definition: () => 'mergeDict',
    reopen: (kept) => ({ ...merging({}), kept }) satisfies Merging,
    added: (accumulator, kept) =>
      (accumulator as Merging).kept === kept ? mergedDict(accumulator as Merging) : undefined,
    isUnread: (accumulator) => (accumulator as Merging).kept?.isRead === false,
  },
  last: direct((_current, contribution) => contribution, 'last'),
};

/** Makes an undefined contribution clear the channel: later ones are folded from nothing. */
function clearing(reducer: Reducer): Reducer {
  const fold = (accumulator: unknown, contribution: unknown): unknown =>
    contribution === undefined ? reducer.open(undefined) : reducer.fold(accumulator, contribution);
  return { ...reducer, fold };
}

const CLEARING = Object.fromEntries(
  Object.entries(BUILT_IN).map(([name, reducer]) => [name, clearing(reducer)]),
) as typeof BUILT_IN;

/**
 * Returns the reducer of a channel: a built-in one, or a function of the user.
 *
 * - `append` makes a list of the contributions; `extend` joins lists; `add` adds numbers or texts;
 *   `mergeDict` merges objects, later keys win; `last` keeps the last contribution in plan order.
 */
export function reducerFor(name: Exclude<ReducerName, 'code'> | ReducerFunction): Reducer {
  return typeof name === 'function' ? clearing(direct(name)) : CLEARING[name];
}
