import { stepCancelled, toErrorData } from '../../../base/errors.js';
import type { Clock } from '../../../base/clock.js';
import { budgetNumber } from '../../../base/address.js';
import { isPlainObject } from '../../../base/json.js';
import type { Amount } from '../../../budget/amount.js';
import type { Journal } from '../../../journal/journal.js';
import type { OpenSession } from '../../../journal/session.js';
import type { Store } from '../../../journal/store.js';
import type { BudgetChange } from '../../../plan/budget.js';
import type { Outcome, Question, Reserve, Reserving } from '../../ports/durable.js';
import type { MakeBudget } from '../memory-durable.js';
import { partsStandStill, reserveInParts } from '../part-under-way.js';
import type { RunBudget, Stand } from '../run-budget.js';
import { BudgetNote, type BudgetNotes } from './budget-note.js';
import type { Deliveries } from './deliveries.js';
import { recordedSpending, recordedWork, type BudgetRow } from './recorded-spending.js';
import type { RecordedTicket } from './recorded-ticket.js';
import type { StoreCounts } from './store-count.js';

/** Milliseconds between two checks for changed limits. */
const POLL_MS = 500;

export interface BudgetOptions {
  readonly make: MakeBudget;
  readonly taken: number;
  /** The counts under limits shared with other runs. */
  readonly counts?: StoreCounts | undefined;
}

interface BudgetParts {
  readonly session: OpenSession;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly starts: (ticket: RecordedTicket) => void;
  readonly stops: (ticket: RecordedTicket) => void;
  /** Calls back when everything written so far is committed. */
  readonly committed: (then: () => void) => void;
  readonly inside: { ask(ticket: RecordedTicket, name: string, question: Question): Promise<unknown> };
  readonly deliveries: Deliveries;
}

/** An effect that waits until nothing else in the run continues. */
interface Standing {
  readonly ticket: RecordedTicket;
  readonly partsGoOn: () => void;
}

/** The budget of a recorded run. It starts with the spending in the records; each reservation is committed before it takes effect. */
export class RecordedBudget {
  private readonly budget: RunBudget<RecordedTicket>;
  /** The waits until nothing else in the run continues. */
  private readonly standing = new Map<Stand, Standing>();
  private readonly openNotes: BudgetNotes['open'] = new Set();
  private taken: number;
  private stopPoll: () => void;
  private isOver = false;

  constructor(
    private readonly its: BudgetParts,
    { make, taken, counts }: BudgetOptions,
  ) {
    const { session, inside, clock, journal } = its;
    const { history, store } = session;
    const parts: BudgetNotes = {
      count: (history?.spends.length ?? 0) + 1,
      open: this.openNotes,
      counts: (amount: Amount) => this.budget.counts(amount),
    };
    if (counts !== undefined) counts.journal = journal;
    this.budget = make<RecordedTicket>({
      now: () => clock.now(),
      workedBefore: (path) => (history === undefined ? 0 : recordedWork(history, path)),
      stand: (ticket, stand) => this.stand(ticket, stand),
      leave: (ticket, stand) => this.leave(ticket, stand),
      begins: (ticket) => this.begins(ticket),
      ends: (ticket) => this.ends(ticket),
      ask: (ticket, name, question) => inside.ask(ticket, name, question),
      record: (ticket, wanted) => new BudgetNote(its, parts, ticket, wanted),
    });
    this.taken = taken;
    for (const { path, amount } of history === undefined ? [] : recordedSpending(store, history))
      this.budget.charge(path, amount);
    const poll = (): void => {
      this.takeChanges();
      this.budget.refresh();
      // The store may have failed.
      if (this.isOver) return;
      if (this.waits) this.its.deliveries.wake();
      this.stopPoll = clock.setTimer(POLL_MS, poll);
    };
    this.stopPoll = clock.setTimer(POLL_MS, poll);
  }

  get waits(): boolean {
    return this.standing.size > 0;
  }

  /** True if the effects that wait for budget keep waiting, for other runs. */
  get goesOn(): boolean {
    return this.waits && [...this.standing.keys()].every((stand) => stand.goesOn?.() === true);
  }

  reserveFor(ticket: RecordedTicket): Reserve {
    const reserve = reserveInParts(ticket, this.budget.reserveFor(ticket));
    return Object.assign((wanted: Reserving) => (this.isOver ? Promise.reject(stepCancelled()) : reserve(wanted)), {
      strict: reserve.strict,
    });
  }

  /** Only waits for budget and answers are left in the run. Returns false if none waits for budget. */
  giveUp(): boolean {
    const { waits } = this;
    for (const [stand, { ticket }] of this.standing) {
      if (stand.goesOn?.() === true) continue;
      this.leave(ticket, stand);
      stand.alone();
    }
    return waits;
  }

  works({ key }: RecordedTicket): void {
    this.budget.works(key);
  }

  rests({ key }: RecordedTicket): void {
    this.budget.rests(key);
  }

  /** The effect has ended. Returns its outcome if the budget was short. */
  ended(ticket: RecordedTicket): Outcome | undefined {
    this.budget.close(ticket);
    return ticket.short;
  }

  /** The outcome of the effect is written: settles its spending. */
  told(ticket: RecordedTicket): void {
    this.budget.told(ticket);
  }

  close(ticket: RecordedTicket): void {
    for (const [stand, its] of ticket.dropped ? [...this.standing] : []) {
      if (its.ticket !== ticket) continue;
      this.standing.delete(stand);
      stand.dropped(stepCancelled());
    }
    this.budget.close(ticket);
  }

  /** Nothing more can be recorded: whatever a function has left running, such as a run of its own, may spend nothing more. */
  stop(): void {
    this.isOver = true;
    this.stopPoll();
    for (const lost of this.openNotes) lost();
    for (const stand of this.standing.keys()) stand.dropped(stepCancelled());
  }

  /** Applies the changes requested since. */
  takeChanges(): void {
    try {
      const rows = budgetRows(this.its.session.store, this.its.session.lease.runId);
      for (const { limit, change } of rows.slice(this.taken)) {
        this.taken += 1;
        this.change(limit, change);
      }
    } catch (error) {
      this.its.journal.fail(toErrorData(error));
    }
  }

  private change(limit: string, change: BudgetChange): void {
    try {
      this.budget.raise(limit, change);
      this.its.deliveries.wake();
    } catch {
      // The limit does not exist; the caller that asked to raise it got the error.
    }
  }

  private stand(ticket: RecordedTicket, stand: Stand): void {
    this.standing.set(stand, { ticket, partsGoOn: partsStandStill(ticket) });
    ticket.questions += 1;
    if (ticket.effects === 0) this.its.stops(ticket);
    this.its.deliveries.wake();
  }

  private leave(ticket: RecordedTicket, stand: Stand): void {
    const standing = this.standing.get(stand);
    if (standing === undefined) return;
    this.standing.delete(stand);
    ticket.questions -= 1;
    standing.partsGoOn();
    if ((ticket.questions === 0 || ticket.effects > 0) && !ticket.dropped) this.its.starts(ticket);
  }

  private begins(ticket: RecordedTicket): void {
    ticket.effects += 1;
    if (!ticket.dropped && ticket.questions > 0) this.its.starts(ticket);
  }

  private ends(ticket: RecordedTicket): void {
    ticket.effects -= 1;
    if (ticket.effects > 0 || ticket.questions === 0 || ticket.dropped) return;
    this.its.stops(ticket);
    this.its.deliveries.wake();
  }
}

export function openBudget(options: BudgetOptions | undefined, parts: BudgetParts): RecordedBudget | undefined {
  return options === undefined ? undefined : new RecordedBudget(parts, options);
}

/** The changes of limits stored beside the record of a run, in the order of arrival. */
export function budgetRows(store: Pick<Store, 'answers'>, runId: string): readonly BudgetRow[] {
  return store.answers(runId).flatMap(({ key, value }) => {
    if (budgetNumber(key) === undefined || value === undefined) return [];
    const row = JSON.parse(value) as unknown;
    if (!isPlainObject(row) || typeof row['limit'] !== 'string') return [];
    return [row as unknown as BudgetRow];
  });
}
