import { writtenTime } from './clock.js';
import { SkeinError } from './errors.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/y;

/** The format of a duration, as the source of a regular expression. */
export const DURATION_PATTERN = `^\\s*(?:0|(?:${PART.source})+)\\s*$`;

/** Parses a duration such as `30s`, `1h30m`, `1.5h` or a bare `0`, and returns milliseconds. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const source = text.trim();
  if (source === '0') return 0;
  if (source === '' || source.length > 64) return undefined;
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < source.length) {
    const match = PART.exec(source);
    if (match === null) return undefined;
    total += Number(match[1]) * (UNITS[match[2] ?? ''] ?? Number.NaN);
  }
  return Number.isFinite(total) ? Math.round(total) : undefined;
}

/** Formats milliseconds for people: `250ms`, `4.2s`, `3m 05s`, `2h 10m`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes}m ${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`;
}

/** A point in time: a duration from the present, in milliseconds or as `2h`, or a time, as a Date or as text: `2027-01-31T12:00:00Z`. */
export type Moment = number | string | Date;

/** A duration in milliseconds, or a time in milliseconds since 1970. */
export type Limit = { readonly ms: number } | { readonly at: number };

/** @throws SkeinError `SKEIN_USAGE` for what is not a moment */
export function limitOf(moment: unknown, what: string): Limit {
  const ms = typeof moment === 'string' ? parseDuration(moment) : moment;
  if (typeof ms === 'number' && Number.isFinite(ms) && ms >= 0) return { ms };
  const at = writtenTime(moment);
  if (at !== undefined) return { at };
  const seen = typeof moment === 'string' ? JSON.stringify(moment.slice(0, 80)) : String(moment).slice(0, 80);
  throw new SkeinError('SKEIN_USAGE', `${what} must be a duration or a time, not ${seen}`, {
    hint: "give milliseconds, '2h', a Date, or a text such as '2027-01-31T12:00:00Z'",
  });
}

/** The time of a limit, in milliseconds since 1970. */
export function timeOf(limit: Limit, now: number): number {
  return 'at' in limit ? limit.at : now + limit.ms;
}
