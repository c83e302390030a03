import { uuidv7 } from 'uuidv7';

/** Makes run ids. */
export interface Ids {
  /** A new id: sortable by time, unique in the world. */
  next(): string;
}

/** UUIDs of version 7 (RFC 9562). */
export const systemIds: Ids = {
  next() {
    const id = uuidv7();
    // The text is put together from single digits; reading one makes the engine keep it in one piece, a twentieth of the memory.
    id.charCodeAt(0);
    return id;
  },
};

/**
 * A pseudo-random sequence in [0, 1) from a text seed: the same text gives the same sequence. Mulberry32 over an FNV-1a hash of
 * the seed; good enough for backoff jitter and marks, not for keys.
 *
 * @example
 * const random = seededRandom('run-1');
 * random(); // the same number in every process
 */
export function seededRandom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
