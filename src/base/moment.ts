import { writtenTime } from './clock.js';
import { parseDuration } from './duration.js';
import { SkeinError } from './errors.js';

/** When something is: a duration from now, in milliseconds or as `2h`, or a time, as a Date or as text: `2027-01-31T12:00:00Z`. */
export type Moment = number | string | Date;

/** A duration in milliseconds, or a time in milliseconds since 1970. */
export type Limit = { readonly ms: number } | { readonly at: number };

/**
 * Reads a moment.
 *
 * @throws SkeinError `SKEIN_USAGE` for anything that is none
 * @example
 * limitOf('1h30m', 'expires'); // { ms: 5_400_000 }
 */
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

/** The time that a limit means, in milliseconds since 1970. */
export function timeOf(limit: Limit, now: number): number {
  return 'at' in limit ? limit.at : now + limit.ms;
}
