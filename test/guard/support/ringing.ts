import { afterEach, beforeEach, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';

/** The one timeout of a test, in milliseconds: it rings when the test says so. */
export const LIMIT = 54_321;

/** Absent: the timer is not set. */
let ring: (() => void) | undefined;

/** In each test of a file, timers of {@link LIMIT} ring only when `hang` is called; others are real. */
export function ringing(): void {
  beforeEach(() => {
    const real = { ...systemClock };
    vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, fire) => {
      if (ms !== LIMIT) return real.setTimer(ms, fire);
      ring = fire;
      return () => {
        ring = undefined;
      };
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
}

/** Lets the timeout ring, and never ends. */
export async function hang(): Promise<never> {
  await vi.waitUntil(() => ring !== undefined, 60_000);
  ring?.();
  ring = undefined;
  return new Promise<never>(() => undefined);
}
