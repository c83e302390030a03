import { afterEach, beforeEach, vi } from 'vitest';
import { systemClock } from '../src/base/clock.js';

/** What takes this process a second takes a fiftieth of it. */
const QUICKER = 50;

/**
 * Waits of this process (a provider that is left alone for a while, a next try) are short in the tests of a file. Its clock goes on as far as they say, when
 * they end: they end in the order in which they would, and nothing is late because the machine is busy. Other processes and Node's own timers have their time.
 */
export function quickTime(): void {
  beforeEach(() => {
    const real = { ...systemClock };
    let ahead = 0;
    vi.spyOn(systemClock, 'now').mockImplementation(() => real.now() + ahead);
    vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, fire) => {
      const due = systemClock.now() + ms;
      return real.setTimer(ms / QUICKER, () => {
        ahead = Math.max(ahead, due - real.now());
        fire();
      });
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
}
