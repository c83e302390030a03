import { parseKey, pathOf, stepOf } from '../../../base/address.js';
import { present } from '../../../base/json.js';
import type { Recorded } from '../../../journal/ledger.js';
import type { DoneRecord } from '../../../journal/record.js';
import type { OpenSession } from '../../../journal/session.js';
import { readStored } from '../../../journal/stored.js';
import { isOfPhase } from '../../ports/supervision.js';
import type { Outcome } from '../../ports/durable.js';
import type { Identity, Past, StepOptions } from '../../ports/recording.js';
import type { RecordedTicket } from './recorded-ticket.js';

export class RecordedOutcomes {
  /** `outdated`: receives the path of a step whose recorded result, or only its judgement, is no longer valid. */
  constructor(
    private readonly session: Pick<OpenSession, 'ledger' | 'store'>,
    private readonly outdated: (path: string, isJudged: boolean) => void,
  ) {}

  find({ key, id, options }: RecordedTicket): Recorded | undefined {
    const candidates = this.session.ledger.find(key);
    if (candidates.length === 0) return undefined;
    const found = matching(candidates, id, options?.identity);
    if (found === undefined && isPaidFor(options) && candidates.some(({ record }) => record.error === undefined))
      this.outdated(pathOf(stepOf(key)), isOfPhase(parseKey(key).name));
    return found;
  }

  /** Whether an effect that started at this point would take its outcome from a parent. */
  isTaken(key: string, identity: Identity): boolean {
    const found = matching(this.session.ledger.find(key), identity.digest(), identity);
    return found !== undefined && isOfParent(found);
  }

  /** Whether there is an outcome, and, if one is given, one with this identity. */
  isRecorded(key: string, identity: Identity | undefined): boolean {
    const candidates = this.session.ledger.find(key);
    if (identity === undefined || candidates.length === 0) return candidates.length > 0;
    return matching(candidates, identity.digest(), identity) !== undefined;
  }

  /** Whether a timer with this key was set before. */
  timed(key: string): boolean {
    const { ledger } = this.session;
    return ledger.timer(key) !== undefined || ledger.find(key).length > 0;
  }

  /** @throws SkeinError `SKEIN_JOURNAL` if a value is missing or damaged */
  outcomeOf(record: DoneRecord): Outcome {
    if (record.error !== undefined) return { ok: false, error: record.error };
    return { ok: true, value: readStored(this.session.store, record) };
  }
}

/** Finds the recorded outcome that is valid (J2): its digest counts as the same, and everything read then still is the same. */
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

/** Choosers and clean-ups are repeated without a warning. */
function isPaidFor(options: StepOptions | undefined): boolean {
  return options?.pure !== true && options?.cleanup !== true;
}

/** The recorded past. A person's decision counts for the run in which it was made, but not for a fork. */
export function pastOf(found: Recorded): Past {
  const { reads, heard, wrote, freed } = found.record;
  return present({ reads, heard, wrote, freed: isOfParent(found) ? undefined : freed });
}

/** Whether the run that this one was forked from, or one before that, recorded it. */
export function isOfParent({ order }: Recorded): boolean {
  return order < 0;
}
