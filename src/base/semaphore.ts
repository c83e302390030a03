/**
 * Bounds how many of something are going on at once. Waiters are served in the order in which they came.
 *
 * @example
 * const slots = new Semaphore(2);
 * slots.acquire(() => startWork(() => slots.release()));
 */
export class Semaphore {
  private free: number;
  private waiting: (() => void)[] = [];
  private head = 0;

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
      this.waiting.push(start);
    }
  }

  /** Gives a permit back. */
  release(): void {
    const next = this.waiting[this.head];
    if (next === undefined) {
      this.free += 1;
      return;
    }
    this.head += 1;
    if (this.head > 1_024 && this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head);
      this.head = 0;
    }
    next();
  }
}
