import { isPlainObject } from '../base/json.js';
import { Kept } from '../base/kept.js';
import { SkeinError } from '../base/errors.js';
import type { Growing } from './growing-list.js';
import { NOTHING, endOf, grow, reopenedList, wholeOf, windowOn } from './growing-list.js';
import type { ReducerName } from './plan.js';

/**
 * How contributions to a channel are folded (S3). `open` makes the accumulator out of the first value (an input, or nothing),
 * `fold` takes one contribution in, `read` gives the value that nodes see.
 */
export interface Reducer {
  open(initial: unknown): unknown;
  fold(accumulator: unknown, contribution: unknown): unknown;
  read(accumulator: unknown): unknown;
  /**
   * The value for who takes no more of it than its length and single entries; it is not put together. Undefined or absent: it is read as for
   * others.
   */
  glance?(accumulator: unknown): unknown;
  /** At least so many of the last entries of a list, without a read of the whole; fewer are all of them. Absent: it is read. */
  end?(accumulator: unknown, count: number): readonly unknown[];
  /** Its name, or the source text of its function: what another reducer made of the same contributions is another value (J2). */
  definition(): string;
  /** Goes on from a value that is kept elsewhere: it is read when it is needed. */
  reopen(kept: Kept): unknown;
  /** What came to a kept value since, of the same sort as it; undefined when the accumulator is not that value with more. */
  added?(accumulator: unknown, kept: Kept): unknown;
  /** To read the accumulator, a kept value has to be read. */
  isUnread(accumulator: unknown): boolean;
}

/** A reducer function of a user: (value so far, contribution) => value. The value so far is undefined for the first one. */
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

/** A reducer whose accumulator is the value itself, or where that is kept. */
function direct(fold: ReducerFunction, name?: string): Reducer {
  const definition = (): string => name ?? Function.prototype.toString.call(fold);
  return {
    open: (initial) => initial,
    fold: (accumulator, contribution) => fold(valueOf(accumulator), contribution),
    read: valueOf,
    definition,
    reopen: (kept) => kept,
    isUnread: (accumulator) => accumulator instanceof Kept && !accumulator.isRead,
  };
}

function valueOf(accumulator: unknown): unknown {
  return accumulator instanceof Kept ? accumulator.value : accumulator;
}

/** A kept text, and what was added to it. */
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

/** An object to which others were added, and how many keys it had without them. Adding costs what is added; a read puts them together. */
interface Merging {
  /** The object that it goes on from, which is not in `base`. */
  readonly kept: Kept | undefined;
  base: unknown;
  keys: number;
  added: Growing;
}

/** So many additions are put together at the latest, or as many as there are keys. */
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

/** What the parts of an object make, and from now on its base. */
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

/** The object with what it goes on from. */
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

/** A contribution that is undefined clears the channel: what comes after it is folded from nothing. */
function clearing(reducer: Reducer): Reducer {
  const fold = (accumulator: unknown, contribution: unknown): unknown =>
    contribution === undefined ? reducer.open(undefined) : reducer.fold(accumulator, contribution);
  return { ...reducer, fold };
}

const CLEARING = Object.fromEntries(
  Object.entries(BUILT_IN).map(([name, reducer]) => [name, clearing(reducer)]),
) as typeof BUILT_IN;

/**
 * The reducer of a channel: a built-in one, or a function of the user.
 *
 * - `append` makes a list of the contributions; `extend` joins lists; `add` adds numbers or texts;
 *   `mergeDict` merges objects, later keys win; `last` keeps the last contribution in plan order.
 */
export function reducerFor(name: Exclude<ReducerName, 'code'> | ReducerFunction): Reducer {
  return typeof name === 'function' ? clearing(direct(name)) : CLEARING[name];
}
