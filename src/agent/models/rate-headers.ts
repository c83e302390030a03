import { parseDuration } from '../../base/duration.js';
import type { Allowance } from '../../budget/allowance.js';
import type { Counted, Told } from '../../budget/pass.js';
import { headerMap, retryAfterMs, type HeaderMap } from './http-status.js';

/** The parts of a server's answer that can contain limits. */
export interface Heard {
  readonly status: number;
  /** Headers by name, in any case. */
  readonly headers: unknown;
}

/** What providers count, and the headers with the limit, what remains of it, and when it is full again. */
const FAMILIES: readonly (readonly [counted: Counted, (what: string) => string])[] = [
  ['requests', (what) => `anthropic-ratelimit-requests-${what}`],
  ['tokens', (what) => `anthropic-ratelimit-tokens-${what}`],
  ['input', (what) => `anthropic-ratelimit-input-tokens-${what}`],
  ['output', (what) => `anthropic-ratelimit-output-tokens-${what}`],
  // OpenAI, and most compatible servers.
  ['requests', (what) => `x-ratelimit-${what}-requests`],
  ['tokens', (what) => `x-ratelimit-${what}-tokens`],
];

/** 429, and the statuses 503 and 529, which report overload. */
const REFUSED: ReadonlySet<number> = new Set([429, 503, 529]);

/** Reads a server's limits from an answer. `now` is in milliseconds since 1970; unreadable values are left out. */
export function limitsIn({ status, headers: given }: Heard, now: number): Told {
  const headers = headerMap(given);
  const allowances: Partial<Record<Counted, Allowance>> = {};
  for (const [counted, name] of FAMILIES) {
    const limit = numberIn(headers[name('limit')]);
    const remaining = numberIn(headers[name('remaining')]);
    if (limit === undefined || remaining === undefined) continue;
    allowances[counted] = { limit, remaining, resetMs: resetIn(headers[name('reset')], headers, now) };
  }
  const refused = REFUSED.has(status);
  return { allowances, refused, retryAfterMs: refused ? retryAfterMs(headers, now) : undefined };
}

function numberIn(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Parses `6m0s`, a number of seconds, or a time, which is on the server's clock and may differ from the local one. */
function resetIn(text: string | undefined, headers: HeaderMap, now: number): number {
  if (text === undefined) return 0;
  const seconds = numberIn(text);
  if (seconds !== undefined) return seconds * 1_000;
  const duration = parseDuration(text);
  if (duration !== undefined) return duration;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return 0;
  const sent = Date.parse(headers['date'] ?? '');
  return Math.max(0, at - (Number.isNaN(sent) ? now : sent));
}
