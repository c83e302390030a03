import type { Clock } from '../../../base/clock.js';
import { stepCancelled } from '../../../base/errors.js';
import { NO_AMOUNT, type Amount } from '../../../budget/amount.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { Reserving } from '../../ports/durable.js';
import type { RecordedNote } from '../hold.js';
import type { RecordedTicket } from './recorded-ticket.js';

interface NoteParts {
  readonly journal: Journal;
  readonly clock: Clock;
  /** Calls back when everything written so far is committed. */
  readonly committed: (then: () => void) => void;
}

export interface BudgetNotes {
  count: number;
  /** Functions for notes that are written and not committed: called if they never will be. */
  readonly open: Set<() => void>;
  counts(amount: Amount): boolean;
}

/** The record of an amount about to be spent: a line before, and one after if the outcome of the effect does not contain it. */
export class BudgetNote implements RecordedNote {
  isWritten = false;
  private isOver = false;
  private part: number | undefined = undefined;
  private done: Promise<void> | undefined = undefined;

  constructor(
    private readonly its: NoteParts,
    private readonly parts: BudgetNotes,
    private readonly ticket: RecordedTicket,
    private readonly wanted: Reserving,
  ) {}

  get atOnce(): boolean {
    return this.wanted.atOnce === true;
  }

  /** True if no outcome contains what it spent. */
  private get isPart(): boolean {
    return !this.atOnce && this.wanted.told !== true;
  }

  line(): string | undefined {
    const { parts, isPart } = this;
    const { key, id } = this.ticket;
    const { amount } = this.wanted;
    const at = this.its.clock.now();
    if (this.atOnce) return parts.counts(amount) ? encodeRecord({ t: 'spent', at, key, spent: amount }) : undefined;
    const ids = { ...(id === undefined ? {} : { id }), ...(isPart ? { part: parts.count + 1 } : {}) };
    return encodeRecord({ t: 'start', at, key, reserved: amount, ...ids });
  }

  written(): void {
    this.isWritten = true;
    if (this.isPart) this.part = this.parts.count += 1;
    const { open } = this.parts;
    // The commit may happen before anything waits for it.
    this.done = new Promise((resolve, reject) => {
      const lost = (): void => reject(stepCancelled());
      open.add(lost);
      this.its.committed(() => {
        open.delete(lost);
        resolve();
      });
    });
    this.done.catch(() => undefined);
  }

  /** Nothing is spent before the commit that allows it. */
  async committed(): Promise<void> {
    const line = this.isWritten ? undefined : this.line();
    if (line !== undefined) {
      this.its.journal.write(line);
      this.written();
    }
    await this.done;
  }

  ended(spent: Amount | undefined): void {
    const { part, its, ticket } = this;
    if (this.isOver || !this.isWritten || (spent !== undefined && part === undefined)) return;
    this.isOver = true;
    const ends = part === undefined ? { unmade: true as const } : { part };
    its.journal.write(
      encodeRecord({ t: 'spent', at: its.clock.now(), key: ticket.key, spent: spent ?? NO_AMOUNT, ...ends }),
    );
  }
}
