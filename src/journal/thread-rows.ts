import { SkeinError } from '../base/errors.js';
import type { RunOutcome } from '../events/census.js';
import { kindText } from '../lang/value-text.js';

/** Threads are rows among those of runs. Their turns have the row as parent, so it stays as long as one of them does. */
const PREFIX = 'thread:';

/** Maximum length of a thread name. */
const LONGEST_ID = 200;

export function threadRow(id: string): string {
  return PREFIX + id;
}

export function threadOfRow(row: string | undefined): string | undefined {
  return row?.startsWith(PREFIX) === true ? row.slice(PREFIX.length) : undefined;
}

export function threadOfRun({ parent }: { readonly parent?: string }): string | undefined {
  return threadOfRow(parent);
}

const WITHOUT_SUCCESS: readonly RunOutcome[] = ['failed', 'cancelled'];

/** The final outcome of a turn's run that no answer can turn into a success; undefined for other runs. */
export function endedWithoutSuccess(row: { readonly outcome?: string } | undefined): RunOutcome | undefined {
  return WITHOUT_SUCCESS.find((outcome) => outcome === row?.outcome);
}

/** @throws SkeinError `SKEIN_USAGE` for an invalid name */
export function checkThreadId(id: unknown): asserts id is string {
  const isName = typeof id === 'string' && id.length > 0 && id.length <= LONGEST_ID && !/\p{C}/u.test(id);
  if (isName && id.trim() === id) return;
  throw new SkeinError('SKEIN_USAGE', `${nameOf(id)} is not a valid thread name`, {
    hint: `a name has 1 to ${LONGEST_ID} characters, no control characters, and no space at its ends`,
  });
}

function nameOf(id: unknown): string {
  return typeof id === 'string' ? JSON.stringify(id.slice(0, 50)) : kindText(id);
}
