import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { isPlainObject } from './json.js';

/**
 * Returns JSON text with sorted keys and without white space, so that equal data have equal text (RFC 8785 for JSON values; keys are sorted
 * by UTF-16 code units, numbers are formatted as in ECMAScript).
 * Leaves out properties that are undefined, as JSON.stringify does.
 *
 * @throws TypeError for values that JSON cannot represent: functions, symbols, bigints, NaN, infinities, cycles.
 */
export function canonicalJson(value: unknown): string {
  return write(value, new Set());
}

function write(value: unknown, open: Set<object>): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} is not a JSON value`);
  if (open.has(value)) throw new TypeError('the value contains itself');
  open.add(value);
  const text = Array.isArray(value)
    ? `[${value.map((item: unknown) => write(item ?? null, open)).join(',')}]`
    : writeObject(value, open);
  open.delete(value);
  return text;
}

function writeObject(value: object, open: Set<object>): string {
  if (!isPlainObject(value)) throw new TypeError('a class instance is not a JSON value');
  const keys = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${write(value[key], open)}`).join(',')}}`;
}

/**
 * SHA-256 of the canonical JSON of a value, as 64 hex digits. Used for keys of results, recordings and pins (J2).
 *
 * @throws TypeError as {@link canonicalJson} does.
 */
export function canonicalHash(value: unknown): string {
  return sha256(canonicalJson(value));
}

let crypto: typeof Crypto | undefined;

/** Loads Node's module when it is first needed: it takes 5 ms of an import of Skein. */
export function nodeCrypto(): typeof Crypto {
  crypto ??= createRequire(import.meta.url)('node:crypto') as typeof Crypto;
  return crypto;
}

/** SHA-256 of a text (as UTF-8), as 64 hex digits. */
export function sha256(text: string): string {
  return nodeCrypto().createHash('sha256').update(text, 'utf8').digest('hex');
}

/** A short digest of a text: the first 128 bits of its SHA-256, as 22 characters. Used in the keys and checksums of journals. */
export function digestText(text: string): string {
  return nodeCrypto().hash('sha256', text, 'base64url').slice(0, 22);
}
