import { settled } from './clock.js';

/** Work that yields between pieces of a few milliseconds, so that its caller can pause it. */
export type Slices<T> = Generator<undefined, T, undefined>;

/** Number of pieces before the event loop gets its first turn: most work is complete by then. */
const AT_ONCE = 8;

/**
 * Does work in slices: timers fire and signals arrive in between. Short work completes synchronously.
 *
 * @throws errors of the work during the synchronous part; later ones reject the promise
 */
export function inSlices<T>(work: Slices<T>): T | Promise<T> {
  for (let piece = 0; piece < AT_ONCE; piece++) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
  return givingWay(work);
}

async function givingWay<T>(work: Slices<T>): Promise<T> {
  for (;;) {
    await settled();
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** Number of items in one piece, which takes less than a millisecond. */
const IN_ONE_PIECE = 4096;

/** Visits many items in slices. */
export function* lookAt<T>(things: Iterable<T>, look: (thing: T) => void): Slices<void> {
  let left = IN_ONE_PIECE;
  for (const thing of things) {
    look(thing);
    left -= 1;
    if (left > 0) continue;
    left = IN_ONE_PIECE;
    yield;
  }
}

/** Does work in slices without pauses. */
export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
