import { Queue } from './queue.js';

/**
 * Bounds how many of something are going on at once. Waiters are served in the order in which they came.
 *
 * @example
 * const slots = new Semaphore(2);
 * slots.acquire(() => startWork(() => slots.release()));
 */
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
