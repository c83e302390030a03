import { parseKey, pathOf, stepOf } from '../../../base/address.js';
import { present } from '../../../base/json.js';
import type { Recorded } from '../../../journal/ledger.js';
import type { DoneRecord } from '../../../journal/record.js';
import type { OpenSession } from '../../../journal/session.js';
import { readStored } from '../../../journal/stored.js';
import { isOfPhase } from '../../ports/supervision.js';
import type { Identity, Outcome, Past, StepOptions } from '../../ports/durable.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** What a session finds in its ledger. */
export class RecordedOutcomes {
  /** `outdated` is told the path of a step whose recorded result, or whose judgement alone, does not hold any more. */
  constructor(
    private readonly session: Pick<OpenSession, 'ledger' | 'store'>,
    private readonly outdated: (path: string, isJudged: boolean) => void,
  ) {}

  /** The outcome that holds for a ticket, if there is one. */
  find({ key, id, options }: RecordedTicket): Recorded | undefined {
    const candidates = this.session.ledger.find(key);
    if (candidates.length === 0) return undefined;
    const found = matching(candidates, id, options?.identity);
    if (found === undefined && isPaidFor(options) && candidates.some(({ record }) => record.error === undefined))
      this.outdated(pathOf(stepOf(key)), isOfPhase(parseKey(key).name));
    return found;
  }

  /** An effect that started now would have its outcome from a parent. */
  isTaken(key: string, identity: Identity): boolean {
    const found = matching(this.session.ledger.find(key), identity.digest(), identity);
    return found !== undefined && isOfParent(found);
  }

  /** A timer with this key was set before. */
  timed(key: string): boolean {
    const { ledger } = this.session;
    return ledger.timer(key) !== undefined || ledger.find(key).length > 0;
  }

  /** @throws SkeinError `SKEIN_JOURNAL` when a value is missing or damaged */
  outcomeOf(record: DoneRecord): Outcome {
    if (record.error !== undefined) return { ok: false, error: record.error };
    return { ok: true, value: readStored(this.session.store, record) };
  }
}

/**
 * The recorded outcome that holds for something that is started now (J2): its digest is the same, or one that counts as the same, and
 * whatever was read then is the same now.
 */
function matching(
  candidates: readonly Recorded[],
  id: string | undefined,
  identity: Identity | undefined,
): Recorded | undefined {
  return candidates.find(
    ({ record }) => (record.id === id || isAlso(record.id, identity)) && readsTheSame(record.reads, identity),
  );
}

function readsTheSame(reads: DoneRecord['reads'], identity: Identity | undefined): boolean {
  if (reads === undefined) return true;
  for (const name of Object.keys(reads)) if (identity?.current?.(name) !== reads[name]) return false;
  return true;
}

function isAlso(recorded: string | undefined, identity: Identity | undefined): boolean {
  return recorded !== undefined && identity?.also?.().includes(recorded) === true;
}

/** Choosers and what frees resources are done again without a word. */
function isPaidFor(options: StepOptions | undefined): boolean {
  return options?.pure !== true && options?.cleanup !== true;
}

/** What a record says of the past. A person's word counts for the run in which it was said, and not for a fork of it. */
export function pastOf(found: Recorded): Past {
  const { reads, heard, freed } = found.record;
  return present({ reads, heard, freed: isOfParent(found) ? undefined : freed });
}

/** It was recorded by the run that this one was forked from, or by one before that. */
export function isOfParent({ order }: Recorded): boolean {
  return order < 0;
}
