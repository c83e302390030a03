import { followsFromRecord, isUnmade } from '../../../base/decided.js';
import { toErrorData, type ErrorData } from '../../../base/errors.js';
import { freezeData, recordText } from '../../../base/json.js';
import { blobOf, encodeDone, type WrittenDone } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import { keepText } from '../../state/cell.js';
import type { Outcome } from '../../ports/durable.js';
import type { Identity, Past } from '../../ports/recording.js';
import type { RecordedTicket } from './recorded-ticket.js';
import { messageOf } from '../../../base/thrown.js';

/**
 * R1: writes the record of an outcome, and returns the outcome to deliver. A value that is not JSON becomes a failure. `atOnce`: the
 * outcome is used directly instead of delivered. It would be the same if lost, so it needs no commit of its own.
 */
export function writeOutcome(journal: Journal, ticket: RecordedTicket, outcome: Outcome, atOnce = false): Outcome {
  const { key, options, startedAt, at } = ticket;
  let told = outcome;
  let text: string | undefined;
  if (outcome.ok && outcome.value !== undefined) {
    try {
      text = recordText(outcome.value);
      // The producer can no longer change the value: the delivered value is the recorded one.
      freezeData(outcome.value);
    } catch (error) {
      told = { ok: false, error: notJson(key, error) };
    }
  }
  const blob = text === undefined ? undefined : blobOf(text);
  const record: WrittenDone = {
    t: 'done',
    at,
    key,
    id: ticket.id,
    ...pastOf(options?.identity),
    ms: startedAt !== undefined && at > startedAt ? at - startedAt : undefined,
    by: ticket.answeredBy,
    cleanup: options?.cleanup === true ? true : undefined,
    unmade: ticket.unmade ? true : undefined,
    inline: atOnce ? true : undefined,
    error: told.ok ? undefined : told.error,
    blob: blob?.digest,
  };
  const inline = blob === undefined ? text : undefined;
  const line = encodeDone(record, inline);
  keep(told, inline);
  if (atOnce) journal.writeInPassing(line, blob);
  else journal.write(line, blob);
  return told;
}

function pastOf(identity: Identity | undefined): { [K in keyof Past]: Past[K] | undefined } {
  return {
    reads: identity?.reads?.(),
    heard: identity?.heard?.(),
    wrote: identity?.wrote?.(),
    freed: identity?.freed?.(),
  };
}

/** Last, since the step may have read the previously kept value. */
function keep(told: Outcome, text: string | undefined): void {
  if (told.ok && text !== undefined) keepText(told.value, text);
}

/** True if nobody could answer in this session, or a budget is short: such outcomes are not recorded. */
export function isUnanswered(outcome: Outcome): boolean {
  return !outcome.ok && (outcome.error.code === 'SKEIN_QUESTION' || outcome.short !== undefined);
}

function notJson(key: string, error: unknown): ErrorData {
  const thrown = messageOf(error);
  const isTooLarge = error instanceof RangeError && thrown === 'Invalid string length';
  const [why, hint] = isTooLarge
    ? ['its JSON has more than 512 MB', 'write it to a file, and return the name of that']
    : [thrown, 'return plain JSON data: objects, lists, strings, numbers'];
  return { code: 'SKEIN_NOT_JSON', message: `the result of '${key}' can't be recorded: ${why}`, hint };
}

/** The outcome of an effect that threw. If all that its parts gave came from the record, it says that it fails again. */
export function failed(ticket: RecordedTicket, error: unknown): Outcome {
  ticket.unmade = isUnmade(error);
  const data = toErrorData(error);
  return { ok: false, error: ticket.fromRecord === true && !isCutOff(data) ? followsFromRecord(data) : data };
}

function isCutOff({ code }: ErrorData): boolean {
  return code === 'SKEIN_QUESTION' || code === 'SKEIN_CANCELLED' || code === 'SKEIN_BUDGET';
}
