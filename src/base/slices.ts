import { settled } from './clock.js';

/** Work that yields between pieces of a few milliseconds, so that whoever does it can give way. */
export type Slices<T> = Generator<undefined, T, undefined>;

/** So many pieces are done before the event loop has its turn for the first time: most work is over then. */
const AT_ONCE = 8;

/**
 * Does work in slices: timers fire and signals are taken in between. What is short is done at once.
 *
 * @throws what the work throws, while it is done at once; later the promise is rejected
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

/** So many things are looked at in one piece: it takes less than a millisecond. */
const IN_ONE_PIECE = 4096;

/** Looks at many things in slices. */
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

/** Does work in slices to its end. */
export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
