import { addUsd } from '../events/cost.js';
import type { Measure } from '../plan/budget-text.js';
import type { Budget } from '../plan/budget.js';
import { addAmounts, NO_AMOUNT, subtractAmounts, type Amount } from './amount.js';

/** A limit at a place: the whole run, or a node with everything below it, over all visits, items and rounds. */
export interface Limit {
  /** The displayed name: `run`, `step review/critic`. Unique among the limits of a run. */
  readonly name: string;
  /** Node ids from the outermost in, `review/critic`. Empty for the run. */
  readonly path: string;
  readonly budget: Budget;
  /** Returns the milliseconds worked so far, if the budget limits them. */
  readonly worked?: () => number;
  /** The count that includes the spending of other runs. If absent, only the spending of this run counts. */
  readonly shared?: SharedCount;
}

/** The count of a limit that several runs share. */
export interface SharedCount {
  /** The spending of all runs, as last read. */
  readonly spent: Amount;
  readonly reserved: Amount;
  /** Where the count is stored. */
  readonly book: SharedBook;
  /** Reads the current count. Returns true if it has changed. */
  refresh(): boolean;
}

/** Stores the spending of runs under shared limits. */
export interface SharedBook {
  /**
   * Holds an amount under all of some limits for this run and returns the function that ends the hold. Undefined if there is no room, or if
   * the count can't be read now. `note`: recorded with the hold.
   */
  hold(wanted: Amount, limits: readonly Shared[], note: Note | undefined): ((spent: Amount) => void) | undefined;
}

/** A shared count, and the budget that limits it. */
export interface Shared {
  readonly count: SharedCount;
  readonly budget: Budget;
}

/** A line recorded with a hold. */
export interface Note {
  /** Returns the line. Undefined if there is nothing to record. */
  line(): string | undefined;
  /** True if the amount counts as spent from the beginning. */
  readonly atOnce: boolean;
  /** Called once the line is in the record. */
  written(): void;
}

/** The standing of one measure of a limit. */
export interface Standing {
  readonly name: string;
  readonly measure: Measure;
  /** Exceeds the limit if a provider billed more than was reserved. */
  readonly spent: number;
  readonly reserved: number;
  readonly limit: number;
}

/** Why a reservation does not fit: the tightest limit. */
export interface Lack extends Standing {
  readonly wanted: number;
  readonly path: string;
  /** The budget's setting for a limit that is reached. */
  readonly onLimit: NonNullable<Budget['onLimit']>;
}

const COUNTED = ['usd', 'tokens', 'calls', 'toolCalls'] as const;

/** The spent and reserved amounts under one limit. */
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

  /** Reads the current count of a shared limit. Returns true if it has changed. */
  refresh(): boolean {
    return this.limit.shared?.refresh() ?? false;
  }

  /** The count that other runs share, with the budget that limits it. */
  get shared(): Shared | undefined {
    const { shared: count } = this.limit;
    return count === undefined ? undefined : { count, budget: this.budget };
  }

  hold(wanted: Amount): void {
    this.ownReserved = addAmounts(this.ownReserved, wanted);
  }

  /** Ends a hold. Shared amounts are settled in their book. */
  settle(wanted: Amount, spent: Amount): void {
    this.ownReserved = subtractAmounts(this.ownReserved, wanted);
    if (!this.isShared) this.spend(spent);
  }

  /** Charges a limit that is not shared. */
  spend(spent: Amount): void {
    this.ownSpent = addAmounts(this.ownSpent, spent);
  }

  /** True if there is no room, but would be if other runs released what they hold. */
  isHeldByOthers(wanted: Amount): boolean {
    return this.isShared && !this.fits(wanted) && this.fitsBeside(wanted, addAmounts(this.spent, this.ownReserved));
  }

  /** Whether the amount fits beside what is spent and reserved. */
  fits(wanted: Amount): boolean {
    return this.isAlive() && this.fitsBeside(wanted, addAmounts(this.spent, this.reserved));
  }

  /** Whether the amount would fit if all reservations were released. */
  mayFit(wanted: Amount): boolean {
    return this.isAlive() && this.fitsBeside(wanted, this.spent);
  }

  /** A measure of which nothing is wanted blocks nobody, even if more was billed than its limit. */
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

  /** Returns every measure without room, with the ratio of its room to the wanted amount: the smallest ratio is the tightest limit. */
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
