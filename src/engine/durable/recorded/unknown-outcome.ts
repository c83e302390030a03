import { isoTime } from '../../../base/clock.js';
import type { StartedEffect } from '../../../journal/history.js';
import { innerKey } from '../../../base/address.js';
import type { Outcome, Wait } from '../../ports/durable.js';

const AGAIN = 'run it';
const WAS_DONE = 'it was done';
const GIVE_UP = 'fail';

/**
 * The question about a `once` effect that was started and has no recorded success (J6). It names the start, so that an answer counts for
 * that start alone.
 */
export function lostQuestion(key: string, started: StartedEffect, evidence?: unknown): Wait {
  const at = isoTime(started.at);
  const end = started.failed
    ? 'It ended with an error, which may have come after its effect.'
    : 'The run was interrupted before it ended.';
  const text = `'${key}' may be done once only, and was started at ${at}. ${end} What happened?`;
  const choices = [AGAIN, WAS_DONE, GIVE_UP];
  const shown = evidence === undefined ? {} : { evidence };
  return { name: innerKey(key, 'outcome'), question: { text, choices, schema: { enum: choices }, ...shown } };
}

/** The person says that it did not happen. */
export function runsAgain(answer: unknown): boolean {
  return answer === AGAIN;
}

/** The outcome of an effect that is not run again. */
export function lostOutcome(key: string, answer: Outcome, lostValue: unknown): Outcome {
  if (!answer.ok) return answer;
  if (answer.value === WAS_DONE) return { ok: true, value: lostValue };
  const message = `'${key}' was given up: it may be done only once, and it is not known what happened`;
  return { ok: false, error: { code: 'SKEIN_STEP_FAILED', message } };
}
