import { systemClock } from '../../base/clock.js';

/** A check that took longer than this, in milliseconds, is followed by a turn of the event loop: signals are taken and timers fire. */
const LONG = 20;

/**
 * Carries out checks of calls one after the other, in the order in which they are asked for. Calls of one turn are made at once, and inputs that are
 * costly to check could keep the process from hearing anything until the last of them is done.
 *
 * @example
 * const inOrder = longChecks();
 * const input = await inOrder(() => readInput(call, tool));
 */
export function longChecks(): <T>(check: () => T) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (check) => {
    const mine = last.then(async () => {
      const began = systemClock.now();
      try {
        return check();
      } finally {
        if (systemClock.now() - began > LONG) await aTurn();
      }
    });
    last = mine.catch(() => undefined);
    return mine;
  };
}

async function aTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    systemClock.setTimer(0, resolve);
  });
}
