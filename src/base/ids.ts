import { randomBytes } from 'node:crypto';
import { systemClock } from './clock.js';

/** Makes run ids. */
export interface Ids {
  /** A new id, unique in the world; ids sort by the millisecond in which they were made. */
  next(): string;
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds since 1970, the version, and random bits.
 * `random` is 18 hex digits.
 *
 * @example
 * uuidV7(1_795_301_362_140, '0123456789abcdef01'); // '01a2004c-c9dc-7012-8345-6789abcdef01'
 */
export function uuidV7(ms: number, random: string): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6)}`;
}

/** Random digits for many ids at once: asking the host for each would cost more than the rest of a small run. */
let digits = '';

function takeDigits(count: number): string {
  if (digits.length < count) digits = randomBytes(1_152).toString('hex');
  const taken = digits.slice(0, count);
  digits = digits.slice(count);
  return taken;
}

/** The host's ids. */
export const systemIds: Ids = { next: () => uuidV7(systemClock.now(), takeDigits(18)) };

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
