import type { Kept } from '../base/kept.js';

/** The entries of several versions of a list: each sees the first ones, up to its own length. Only the longest version adds to them. */
interface Entries {
  readonly all: unknown[];
  /** The version that was read last, as an array. */
  whole: readonly unknown[] | undefined;
}

/**
 * A version of a list that only grows. Taking something in costs what is taken in, unless another version has grown from the same one
 * already; a read copies the references.
 */
export interface Growing {
  /** The list that it goes on from, which is not in `entries`. */
  readonly kept: Kept | undefined;
  readonly entries: Entries;
  readonly length: number;
}

/** The list without entries. */
export const NOTHING: Growing = { kept: undefined, entries: { all: [], whole: undefined }, length: 0 };

/** A list that goes on from one that is kept elsewhere. What is read of it is its own. */
export function reopenedList(kept: Kept): Growing {
  return { kept, entries: { all: [], whole: undefined }, length: 0 };
}

/** A list with some more entries. */
export function grow(before: Growing, items: readonly unknown[]): Growing {
  if (items.length === 0) return before;
  const isNewest = before.length > 0 && before.length === before.entries.all.length;
  const entries: Entries = isNewest
    ? before.entries
    : { all: before.entries.all.slice(0, before.length), whole: undefined };
  for (const item of items) entries.all.push(item);
  return { kept: before.kept, entries, length: entries.all.length };
}

/** A list with fewer entries is as quickly copied. */
const LONG = 64;

/** A window on the entries of a long list that nobody has read yet. */
export function windowOn(list: Growing): readonly unknown[] | undefined {
  const { kept, entries, length } = list;
  return kept !== undefined || length < LONG || entries.whole?.length === length
    ? undefined
    : new Proxy<readonly unknown[]>(NO_ENTRIES, new Window(list));
}

const NO_ENTRIES: readonly unknown[] = [];

class Window implements ProxyHandler<readonly unknown[]> {
  constructor(private readonly list: Growing) {}

  get(_target: unknown, key: string | symbol): unknown {
    const { entries, length } = this.list;
    if (key === 'length') return length;
    const at = typeof key === 'string' ? Number(key) : -1;
    if (Number.isInteger(at) && at >= 0 && String(at) === key) return at < length ? entries.all[at] : undefined;
    return Reflect.get(Array.prototype, key);
  }

  set(_target: unknown, key: string | symbol): never {
    throw new TypeError(`Cannot assign to read only property '${String(key)}' of object '[object Array]'`);
  }

  deleteProperty(_target: unknown, key: string | symbol): never {
    throw new TypeError(`Cannot delete property '${String(key)}' of [object Array]`);
  }
}

/** At least so many of the last entries of a list; fewer are all of them. */
export function endOf({ kept, entries, length }: Growing, count: number): readonly unknown[] {
  const own = entries.all.slice(Math.max(0, length - count), length);
  return kept === undefined || own.length >= count ? own : [...kept.end(count - own.length), ...own];
}

/** A list as an array, which nobody can change. */
export function wholeOf({ kept, entries, length }: Growing): readonly unknown[] {
  const before = kept === undefined ? [] : (kept.value as readonly unknown[]);
  if (entries.whole?.length !== before.length + length) {
    entries.whole = Object.freeze(
      kept === undefined ? entries.all.slice(0, length) : [...before, ...entries.all.slice(0, length)],
    );
  }
  return entries.whole;
}
