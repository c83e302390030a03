import type { Clock } from '../base/clock.js';

interface FakeTimer {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * A {@link Clock} that stands still until a test advances it. Timers fire inside `advance`, in order of their due time; timers with the
 * same due time fire in the order in which they were set.
 *
 * @example
 * const clock = new FakeClock();
 * clock.setTimer(1_000, () => events.push('rang'));
 * clock.advance(999); // nothing
 * clock.advance(1); // 'rang'
 */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<FakeTimer>();

  /** `startAt`: milliseconds since 1970. Defaults to 2026-01-01, so that nothing depends on the day of the test. */
  constructor(startAt: number = Date.UTC(2026, 0, 1)) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), fire };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Number of timers that are set and have neither fired nor been cancelled. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Advances the time by `ms` milliseconds and fires all timers that become due, including timers set by fired timers. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#earliest(); next !== undefined && next.at <= end; next = this.#earliest()) this.#ring(next);
    this.#now = end;
  }

  /** Advances the time to the next timer and fires it. Returns false if no timer is set. */
  advanceToNext(): boolean {
    const next = this.#earliest();
    if (next !== undefined) this.#ring(next);
    return next !== undefined;
  }

  #ring(timer: FakeTimer): void {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.fire();
  }

  #earliest(): FakeTimer | undefined {
    let first: FakeTimer | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.at < first.at) first = timer;
    return first;
  }
}
