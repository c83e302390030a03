/** Up to this many, a list's own `shift` is the fastest. */
const FEW = 64;

/** First in, first out, however many: `shift` of a long list moves all that is left, each time. */
export class Queue<T> {
  private items: T[] = [];
  /** How many of the items were taken. */
  private taken = 0;

  put(item: T): void {
    this.items.push(item);
  }

  /** What was not taken yet. */
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

/** Bounds how many of something are going on at once. Waiters are served in the order in which they came. */
export class Semaphore {
  private free: number;
  private readonly waiting = new Queue<() => void>();

  /** @param permits how many at once; Infinity for no bound */
  constructor(permits: number) {
    if (!(permits >= 1)) throw new RangeError(`a semaphore needs at least one permit, not ${permits}`);
    this.free = permits;
  }

  /** Calls `start` as soon as a permit is free; at once, and before it returns, when one is free now. */
  acquire(start: () => void): void {
    if (this.free > 0) {
      this.free -= 1;
      start();
    } else {
      this.waiting.put(start);
    }
  }

  /** Gives a permit back. */
  release(): void {
    const next = this.waiting.take();
    if (next === undefined) this.free += 1;
    else next();
  }
}
