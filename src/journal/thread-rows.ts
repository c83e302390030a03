import { SkeinError } from '../base/errors.js';
import type { RunOutcome } from '../events/census.js';

/**
 * Threads are rows among those of runs, with ids of their own. The runs that are turns name the row of their thread as their parent: it stays as
 * long as one of them does.
 */
const PREFIX = 'thread:';

/** A thread has a name of so many characters at most. */
const LONGEST_ID = 200;

/** The row of a thread. */
export function threadRow(id: string): string {
  return PREFIX + id;
}

/** The thread that a row is, or that a parent names. */
export function threadOfRow(row: string | undefined): string | undefined {
  return row?.startsWith(PREFIX) === true ? row.slice(PREFIX.length) : undefined;
}

/** The thread that a run is a turn of. */
export function threadOfRun({ parent }: { readonly parent?: string }): string | undefined {
  return threadOfRow(parent);
}

const WITHOUT_SUCCESS: readonly RunOutcome[] = ['failed', 'cancelled'];

/** How the run of a turn ended, where no answer brings it to a success any more. */
export function endedWithoutSuccess(row: { readonly outcome?: string } | undefined): RunOutcome | undefined {
  return WITHOUT_SUCCESS.find((outcome) => outcome === row?.outcome);
}

/**
 * Refuses what is not a valid thread name.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkThreadId(id: unknown): asserts id is string {
  const isName = typeof id === 'string' && id.length > 0 && id.length <= LONGEST_ID && !/\p{C}/u.test(id);
  if (isName && id.trim() === id) return;
  throw new SkeinError('SKEIN_USAGE', `${nameOf(id)} is not a valid thread name`, {
    hint: `a name has 1 to ${LONGEST_ID} characters, no control characters, and no space at its ends`,
  });
}

function nameOf(id: unknown): string {
  return typeof id === 'string' ? JSON.stringify(id.slice(0, 50)) : `a ${typeof id}`;
}
