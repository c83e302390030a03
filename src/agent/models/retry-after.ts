/** Response headers by lower-case name. */
export type HeaderMap = Readonly<Record<string, string | undefined>>;

/**
 * How long a server asks to wait, in milliseconds: `retry-after-ms` first, then `Retry-After` as seconds or as an HTTP date.
 * Undefined when it does not say, or says something unreadable.
 *
 * @example
 * retryAfterMs({ 'retry-after': '2' }, Date.now()); // 2000
 */
export function retryAfterMs(headers: HeaderMap, now: number): number | undefined {
  const exact = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * Any header container as a map with lower-case names.
 *
 * @example
 * headerMap({ 'Retry-After': '1' })['retry-after']; // '1'
 */
export function headerMap(headers: unknown): HeaderMap {
  const result = Object.create(null) as Record<string, string>;
  if (typeof headers !== 'object' || headers === null) return result;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') result[name.toLowerCase()] = value;
  }
  return result;
}
