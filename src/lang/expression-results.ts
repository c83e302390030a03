import { cel } from './on-demand.js';

/**
 * A value of the expression language as JSON data: whole numbers are numbers, a time is text as in RFC 3339, a duration a number of seconds
 * with an `s`, as the language has them in JSON. What an optional lacks is null.
 *
 * @throws TypeError for a value that JSON does not have
 */
export function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`the result is ${value}, which JSON does not have`);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof cel().Optional) return value.hasValue() ? toPlain(value.value()) : null;
  if (Array.isArray(value)) return value.map(toPlain);
  const entries = value instanceof Map ? [...value] : plainEntries(value);
  if (entries === undefined) return scalarOf(value);
  return Object.fromEntries(entries.map(([key, item]: [unknown, unknown]) => [String(key), toPlain(item)]));
}

function plainEntries(value: object): [string, unknown][] | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value) : undefined;
}

/** Times, durations and unsigned numbers are objects of the language's own. */
function scalarOf(value: object): string | number {
  if (value instanceof Uint8Array) throw new TypeError('the result is bytes, which JSON does not have');
  const inside: unknown = value.valueOf();
  if (typeof inside === 'bigint') return Number(inside);
  // The clock of the host is out of reach here, and so is its class: a time is what is text in JSON.
  const json: unknown = JSON.parse(JSON.stringify(value));
  if (typeof json === 'string') return json.replace('.000Z', 'Z');
  if (typeof inside === 'number') return `${inside / 1000}s`;
  throw new TypeError('the result is a type, which JSON does not have');
}
