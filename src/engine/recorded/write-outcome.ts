import type { ErrorData } from '../../base/errors.js';
import { recordText } from '../../base/json.js';
import { encodeDone, storeText } from '../../journal/codec.js';
import type { Journal } from '../../journal/journal.js';
import type { DoneRecord } from '../../journal/record.js';
import type { Outcome } from '../ports/durable.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** R1: writes the record of an outcome, and gives what is delivered. A value that is no JSON is a failure. */
export function writeOutcome(
  journal: Journal,
  { key, id, options, startedAt, at }: RecordedTicket,
  outcome: Outcome,
): Outcome {
  let told = outcome;
  let text: string | undefined;
  if (outcome.ok && outcome.value !== undefined) {
    try {
      text = recordText(outcome.value);
    } catch (error) {
      told = { ok: false, error: notJson(key, error) };
    }
  }
  const { inline, stored, blob } = storeText(text);
  const reads = options?.identity?.reads?.();
  const record: DoneRecord = {
    t: 'done',
    at,
    key,
    ...(id === undefined ? {} : { id }),
    ...(reads === undefined ? {} : { reads }),
    ...(startedAt === undefined ? {} : { ms: Math.max(0, at - startedAt) }),
    ...(options?.cleanup === true ? { cleanup: true } : {}),
    ...stored,
    ...(told.ok ? {} : { error: told.error }),
  };
  journal.write(encodeDone(record, inline), blob);
  return told;
}

/** Nobody could answer for now: no outcome that is recorded. */
export function isUnanswered(outcome: Outcome): boolean {
  return !outcome.ok && outcome.error.code === 'SKEIN_QUESTION';
}

function notJson(key: string, error: unknown): ErrorData {
  const why = error instanceof Error ? error.message : String(error);
  const message = `the result of '${key}' can't be recorded: ${why}`;
  return { code: 'SKEIN_NOT_JSON', message, hint: 'return plain JSON data: objects, lists, strings, numbers' };
}
