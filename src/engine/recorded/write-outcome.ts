import type { ErrorData } from '../../base/errors.js';
import { freezeData, recordText } from '../../base/json.js';
import { encodeDone, storeText } from '../../journal/codec.js';
import type { Journal } from '../../journal/journal.js';
import type { DoneRecord } from '../../journal/record.js';
import type { Outcome } from '../ports/durable.js';
import type { RecordedTicket } from './recorded-ticket.js';

/**
 * R1: writes the record of an outcome, and gives what is delivered. A value that is no JSON is a failure. `atOnce`: it is not delivered, but
 * used where it was asked for.
 */
export function writeOutcome(journal: Journal, ticket: RecordedTicket, outcome: Outcome, atOnce = false): Outcome {
  const { key, options, startedAt, at } = ticket;
  let told = outcome;
  let text: string | undefined;
  if (outcome.ok && outcome.value !== undefined) {
    try {
      text = recordText(outcome.value);
      // Whoever gave it can't change it any more: what is delivered is what is recorded.
      freezeData(outcome.value);
    } catch (error) {
      told = { ok: false, error: notJson(key, error) };
    }
  }
  const { inline, stored, blob } = storeText(text);
  const record: Writable<DoneRecord> = { t: 'done', at, key, ...stored };
  if (ticket.id !== undefined) record.id = ticket.id;
  const reads = options?.identity?.reads?.();
  if (reads !== undefined) record.reads = reads;
  if (startedAt !== undefined && at > startedAt) record.ms = at - startedAt;
  if (options?.cleanup === true) record.cleanup = true;
  if (atOnce) record.inline = true;
  if (!told.ok) record.error = told.error;
  journal.write(encodeDone(record, inline), blob);
  return told;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Nobody could answer for now: no outcome that is recorded. */
export function isUnanswered(outcome: Outcome): boolean {
  return !outcome.ok && outcome.error.code === 'SKEIN_QUESTION';
}

function notJson(key: string, error: unknown): ErrorData {
  const why = error instanceof Error ? error.message : String(error);
  const message = `the result of '${key}' can't be recorded: ${why}`;
  return { code: 'SKEIN_NOT_JSON', message, hint: 'return plain JSON data: objects, lists, strings, numbers' };
}
