import { systemClock } from './clock.js';
import { nodeCrypto } from './hash.js';

export interface Ids {
  /** Returns a new id, unique in the world; ids sort by the millisecond of their creation. */
  next(): string;
}

/** The buffer in which ids are composed, with version and variant at the positions that RFC 9562 defines. */
const text = Buffer.from('00000000-0000-7000-8000-000000000000', 'latin1');
const TIME_AT = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12];
const RANDOM_AT = [15, 16, 17, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35];
const HEX = Buffer.from('0123456789abcdef', 'latin1');

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds since 1970, the version, and random bits. `random` holds 18 hex
 * digits from `from` on. Composed in one buffer, because text joined from parts takes eight times the memory, and every waiting run holds
 * its id.
 */
export function uuidV7(ms: number, random: string, from = 0): string {
  let left = ms;
  for (let at = TIME_AT.length - 1; at >= 0; at--) {
    const rest = Math.floor(left / 16);
    text[TIME_AT[at] ?? 0] = HEX[left - rest * 16] ?? 0;
    left = rest;
  }
  for (let at = 0; at < RANDOM_AT.length; at++) text[RANDOM_AT[at] ?? 0] = random.charCodeAt(from + at);
  return text.toString('latin1');
}

/** Random digits for 1,024 ids at once: a call of the host for each id would cost more than the rest of a small run. */
let digits = '';
let used = 0;

/** The ids from the host's clock and random source. */
export const systemIds: Ids = {
  next() {
    if (used + RANDOM_AT.length > digits.length) {
      digits = nodeCrypto()
        .randomBytes(512 * RANDOM_AT.length)
        .toString('hex');
      used = 0;
    }
    used += RANDOM_AT.length;
    return uuidV7(systemClock.now(), digits, used - RANDOM_AT.length);
  },
};

/** A pseudo-random sequence in [0, 1) from a text seed: Mulberry32 over FNV-1a. For backoff jitter and marks, not for keys. */
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
