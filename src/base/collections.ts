export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** True for two lists of the same texts in the same order. */
export function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}

export function madeOnce<K, V>(
  kept: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = make();
  kept.set(key, made);
  return made;
}

/** Makes on first use what only some processes, or some runs, need. */
export function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Up to this size, a list's own `shift` is the fastest. */
const FEW = 64;

/** A queue, first in, first out, that is fast at any size: `shift` of a long list moves all remaining items each time. */
export class Queue<T> {
  private items: T[] = [];
  /** Number of items already taken from the list. */
  private taken = 0;

  put(item: T): void {
    this.items.push(item);
  }

  /** Returns the items that are still waiting. */
  waiting(): T[] {
    return this.items.slice(this.taken);
  }

  take(): T | undefined {
    const { items, taken } = this;
    if (taken === 0 && items.length <= FEW) return items.shift();
    const item = items[taken];
    this.taken += 1;
    if (this.taken * 2 > items.length) {
      this.items = items.slice(this.taken);
      this.taken = 0;
    }
    return item;
  }
}

/** Limits how many of something are in progress at once. Waiters are served in order of arrival. */
export class Semaphore {
  private free: number;
  private readonly waiting = new Queue<() => void>();

  /** @param permits limit; Infinity for none */
  constructor(permits: number) {
    if (!(permits >= 1)) throw new RangeError(`a semaphore needs at least one permit, not ${permits}`);
    this.free = permits;
  }

  /** Calls `start` as soon as a permit is free; synchronously if one is free already. */
  acquire(start: () => void): void {
    if (this.free > 0) {
      this.free -= 1;
      start();
    } else {
      this.waiting.put(start);
    }
  }

  release(): void {
    const next = this.waiting.take();
    if (next === undefined) this.free += 1;
    else next();
  }
}

/** A binary heap: the item with the lowest order comes first. The order of an item must not change while it is in the heap. */
export class MinHeap<T> {
  private readonly items: T[] = [];

  constructor(private readonly orderOf: (item: T) => number) {}

  /** The next item, without removing it. */
  get first(): T | undefined {
    return this.items[0];
  }

  put(item: T): void {
    const { items, orderOf } = this;
    const order = orderOf(item);
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = items[up];
      if (parent === undefined || orderOf(parent) <= order) break;
      items[at] = parent;
      at = up;
    }
    items[at] = item;
  }

  take(): T | undefined {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    this.sink(last);
    return first;
  }

  /** Places an item at the top, and moves it down to its place. */
  private sink(item: T): void {
    const { items, orderOf } = this;
    const order = orderOf(item);
    let at = 0;
    for (let down = 1; down < items.length; down = 2 * at + 1) {
      const next = this.lower(down, down + 1);
      const child = items[next];
      if (child === undefined || orderOf(child) >= order) break;
      items[at] = child;
      at = next;
    }
    items[at] = item;
  }

  /** Returns the index of the lower of two items; the second may be missing. */
  private lower(left: number, right: number): number {
    const one = this.items[left];
    const other = this.items[right];
    return one !== undefined && other !== undefined && this.orderOf(other) < this.orderOf(one) ? right : left;
  }
}
