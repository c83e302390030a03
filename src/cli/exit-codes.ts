import type { ErrorData } from '../base/errors.js';
import { SkeinError } from '../base/errors.js';
import type { RunOutcome } from '../events/outcome.js';

/** What the exit code of `skein` says. */
export const EXIT = {
  ok: 0,
  /** Wrong usage, a store that can't be used, or an unexpected error in Skein itself. */
  usage: 1,
  /** The definition or an input is invalid: nothing ran, nothing was written. */
  invalid: 2,
  failed: 3,
  /** Degraded, under `--strict`. */
  degraded: 4,
  paused: 5,
  outOfBudget: 6,
  cancelled: 130,
} as const;

/**
 * The exit code of a run that ended.
 *
 * @example
 * exitCodeOf('degraded', { strict: true }); // 4
 */
export function exitCodeOf(
  outcome: RunOutcome,
  { strict, error }: { readonly strict: boolean; readonly error?: ErrorData | undefined },
): number {
  switch (outcome) {
    case 'succeeded':
      return EXIT.ok;
    case 'degraded':
      return strict ? EXIT.degraded : EXIT.ok;
    case 'failed':
      return error?.code === 'SKEIN_INTERNAL' ? EXIT.usage : EXIT.failed;
    case 'paused':
      return EXIT.paused;
    case 'out_of_budget':
      return EXIT.outOfBudget;
    case 'cancelled':
      return EXIT.cancelled;
  }
}

/** Errors that are not the fault of a definition or an input: a store that can't be used is one of the machine. */
const NOT_OF_INPUT: ReadonlySet<string> = new Set(['SKEIN_USAGE', 'SKEIN_INTERNAL', 'SKEIN_STORE']);

/** The exit code of an error that kept something from starting. */
export function exitCodeOfError(error: unknown): number {
  if (!SkeinError.isInstance(error)) return EXIT.usage;
  if (error.code === 'SKEIN_CANCELLED') return EXIT.cancelled;
  // A conversation waits for an answer.
  if (error.code === 'SKEIN_QUESTION') return EXIT.paused;
  return NOT_OF_INPUT.has(error.code) ? EXIT.usage : EXIT.invalid;
}
