import { pathOf, stepOf } from '../../../base/address.js';
import type { Recorded } from '../../../journal/ledger.js';
import type { DoneRecord } from '../../../journal/record.js';
import type { OpenSession } from '../../../journal/session.js';
import { readStored } from '../../../journal/stored.js';
import type { Outcome } from '../../ports/durable.js';
import { isPaidFor, matching } from './matching.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** What a session finds in its ledger. */
export class RecordedOutcomes {
  /** `outdated` is told the path of a step whose recorded result does not hold any more. */
  constructor(
    private readonly session: Pick<OpenSession, 'ledger' | 'store'>,
    private readonly outdated: (path: string) => void,
  ) {}

  /** The outcome that holds for a ticket, if there is one. */
  find({ key, id, options }: RecordedTicket): Recorded | undefined {
    const candidates = this.session.ledger.find(key);
    if (candidates.length === 0) return undefined;
    const found = matching(candidates, id, options?.identity);
    if (found === undefined && isPaidFor(options) && candidates.some(({ record }) => record.error === undefined))
      this.outdated(pathOf(stepOf(key)));
    return found;
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
