import { addUsd } from '../events/cost.js';
import type { Measure } from '../plan/budget-text.js';
import type { Budget } from '../plan/budget.js';
import type { Amount } from './amount.js';
import { addAmounts, NO_AMOUNT, subtractAmounts } from './amount.js';

/** A limit that stands at a place: the run, or a node and everything below it, all visits, items and rounds together. */
export interface Limit {
  /** What people call it: `run`, `step review/critic`. No two limits have the same. */
  readonly name: string;
  /** Ids of nodes from the outermost in, `review/critic`; empty for the run. */
  readonly path: string;
  readonly budget: Budget;
  /** Milliseconds alive so far, where the budget limits them. */
  readonly worked?: () => number;
  /** Counts what other runs spend, too. Absent: only what this one does. */
  readonly shared?: SharedCount;
}

/** The count of a limit that many runs have together. */
export interface SharedCount {
  /** Of all runs, as it was known last. */
  readonly spent: Amount;
  readonly reserved: Amount;
  /** Where it is kept. */
  readonly book: SharedBook;
  /** Asks how it stands; says whether that has changed. */
  refresh(): boolean;
}

/** Where a run keeps what it spends under limits that many runs have together. */
export interface SharedBook {
  /**
   * Holds an amount under all of some limits for this run, and gives what ends that. Undefined: there is no room for it any more, or nobody can say now.
   * `note`: what is recorded with it.
   */
  hold(wanted: Amount, limits: readonly Shared[], note: Note | undefined): ((spent: Amount) => void) | undefined;
}

/** A count, and what it is held to. */
export interface Shared {
  readonly count: SharedCount;
  readonly budget: Budget;
}

/** What is recorded when something is held. */
export interface Note {
  /** The line; undefined where there is nothing to say. */
  line(): string | undefined;
  /** It counts as spent from the beginning. */
  readonly atOnce: boolean;
  /** The line stands in the record. */
  written(): void;
}

/** How one measure of a limit stands. */
export interface Standing {
  readonly name: string;
  readonly measure: Measure;
  /** More than the limit where a provider billed more than was reserved. */
  readonly spent: number;
  readonly reserved: number;
  readonly limit: number;
}

/** Why a reservation does not fit: the tightest limit. */
export interface Lack extends Standing {
  readonly wanted: number;
  readonly path: string;
  /** What the budget with this limit asks for. */
  readonly onLimit: NonNullable<Budget['onLimit']>;
}

const COUNTED = ['usd', 'tokens', 'calls', 'toolCalls'] as const;

/** What is spent and reserved under one limit. */
export class Account {
  private ownSpent = NO_AMOUNT;
  private ownReserved = NO_AMOUNT;

  constructor(
    private readonly limit: Limit,
    public budget = limit.budget,
  ) {}

  get name(): string {
    return this.limit.name;
  }

  get path(): string {
    return this.limit.path;
  }

  get isShared(): boolean {
    return this.limit.shared !== undefined;
  }

  private get spent(): Amount {
    return this.limit.shared?.spent ?? this.ownSpent;
  }

  private get reserved(): Amount {
    return this.limit.shared?.reserved ?? this.ownReserved;
  }

  /** Asks how it stands where other runs spend, too; says whether that has changed. */
  refresh(): boolean {
    return this.limit.shared?.refresh() ?? false;
  }

  /** The count that other runs have, too, with what it is held to. */
  get shared(): Shared | undefined {
    const { shared: count } = this.limit;
    return count === undefined ? undefined : { count, budget: this.budget };
  }

  hold(wanted: Amount): void {
    this.ownReserved = addAmounts(this.ownReserved, wanted);
  }

  /** What was held is over. What other runs count, too, is settled in their book. */
  settle(wanted: Amount, spent: Amount): void {
    this.ownReserved = subtractAmounts(this.ownReserved, wanted);
    if (!this.isShared) this.spend(spent);
  }

  spend(spent: Amount): void {
    const { shared } = this;
    if (shared === undefined) this.ownSpent = addAmounts(this.ownSpent, spent);
    else shared.count.book.hold(NO_AMOUNT, [{ ...shared, budget: {} }], undefined)?.(spent);
  }

  /** There is no room, and there would be if other runs gave back what they hold. */
  isHeldByOthers(wanted: Amount): boolean {
    return this.isShared && !this.fits(wanted) && this.fitsBeside(wanted, addAmounts(this.spent, this.ownReserved));
  }

  /** Whether there is room beside what is spent and reserved. */
  fits(wanted: Amount): boolean {
    return this.isAlive() && this.fitsBeside(wanted, addAmounts(this.spent, this.reserved));
  }

  /** Whether there would be room if all that is reserved came back. */
  mayFit(wanted: Amount): boolean {
    return this.isAlive() && this.fitsBeside(wanted, this.spent);
  }

  /** A measure of which nothing is wanted holds nobody up, even where more was billed than the limit. */
  private fitsBeside(wanted: Amount, used: Amount): boolean {
    const { usd, tokens, calls, toolCalls } = this.budget;
    return (
      (usd === undefined || wanted.usd <= 0 || addUsd(used.usd, wanted.usd) <= usd) &&
      (tokens === undefined || wanted.tokens <= 0 || used.tokens + wanted.tokens <= tokens) &&
      (calls === undefined || wanted.calls <= 0 || used.calls + wanted.calls <= calls) &&
      (toolCalls === undefined || wanted.toolCalls <= 0 || used.toolCalls + wanted.toolCalls <= toolCalls)
    );
  }

  private isAlive(): boolean {
    const { time } = this.budget;
    return time === undefined || this.worked() < time;
  }

  private worked(): number {
    return this.limit.worked?.() ?? 0;
  }

  standing(): readonly Standing[] {
    const { name, budget } = this;
    const counted = COUNTED.flatMap((measure): Standing[] => {
      const limit = budget[measure];
      const [spent, reserved] = [this.spent[measure], this.reserved[measure]];
      return limit === undefined ? [] : [{ name, measure, spent, reserved, limit }];
    });
    if (budget.time === undefined) return counted;
    return [...counted, { name, measure: 'time', spent: this.worked(), reserved: 0, limit: budget.time }];
  }

  /** Every measure that has no room, with how many times as much as is wanted there would have to be: the least is the tightest. */
  lacks(wanted: Amount): readonly (Lack & { readonly share: number })[] {
    const { path, budget } = this;
    const { onLimit = 'pause' } = budget;
    return this.standing().flatMap((standing) => {
      const { measure, spent, reserved, limit } = standing;
      const left = addUsd(limit - spent, -reserved);
      if (measure === 'time')
        return left > 0 ? [] : [{ ...standing, wanted: 0, path, onLimit, share: Number.NEGATIVE_INFINITY }];
      const some = wanted[measure];
      return some <= 0 || left >= some ? [] : [{ ...standing, wanted: some, path, onLimit, share: left / some }];
    });
  }
}
