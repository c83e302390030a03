import type { Kept } from '../base/kept.js';

/** The entries shared by versions of a list: each sees the first ones, up to its own length. Only the longest adds to them. */
interface Entries {
  readonly all: unknown[];
  /** The version that was last read, as an array. */
  whole: readonly unknown[] | undefined;
}

/** A version of a list that only grows. Adding costs only the new entries, unless another version grew from the same one. */
export interface Growing {
  /** The stored list that this one continues; its entries are not in `entries`. */
  readonly kept: Kept | undefined;
  readonly entries: Entries;
  readonly length: number;
}

export const NOTHING: Growing = { kept: undefined, entries: { all: [], whole: undefined }, length: 0 };

/** Returns a list that continues a stored one. */
export function reopenedList(kept: Kept): Growing {
  return { kept, entries: { all: [], whole: undefined }, length: 0 };
}

export function grow(before: Growing, items: readonly unknown[]): Growing {
  if (items.length === 0) return before;
  const isNewest = before.length > 0 && before.length === before.entries.all.length;
  const entries: Entries = isNewest
    ? before.entries
    : { all: before.entries.all.slice(0, before.length), whole: undefined };
  for (const item of items) entries.all.push(item);
  return { kept: before.kept, entries, length: entries.all.length };
}

/** A shorter list is copied just as fast. */
const LONG = 64;

/** Returns a proxy of a long list that has not been read yet. */
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

/** Returns at least this many of the last entries; a shorter list is returned whole. */
export function endOf({ kept, entries, length }: Growing, count: number): readonly unknown[] {
  const own = entries.all.slice(Math.max(0, length - count), length);
  return kept === undefined || own.length >= count ? own : [...kept.end(count - own.length), ...own];
}

export function wholeOf({ kept, entries, length }: Growing): readonly unknown[] {
  const before = kept === undefined ? [] : (kept.value as readonly unknown[]);
  if (entries.whole?.length !== before.length + length) {
    entries.whole = Object.freeze(
      kept === undefined ? entries.all.slice(0, length) : [...before, ...entries.all.slice(0, length)],
    );
  }
  return entries.whole;
}
