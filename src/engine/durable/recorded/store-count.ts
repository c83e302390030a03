import type { Clock } from '../../../base/clock.js';
import { toErrorData } from '../../../base/errors.js';
import type { Note, Shared, SharedBook, SharedCount } from '../../../budget/account.js';
import { addAmounts, NO_AMOUNT, type Amount } from '../../../budget/amount.js';
import type { Journal } from '../../../journal/journal.js';
import type { Counts, SharedSpending, SpendingChange, Store } from '../../../journal/store.js';
import type { Budget } from '../../../plan/budget.js';

/**
 * Counts a run's spending under shared limits, in the store. A reservation is in the same commit as the record of its call, and so before
 * the call: runs of several processes never hold more together than a limit. The commit with the result of the call settles it.
 */
export class StoreCounts implements SharedBook {
  /** Undefined if the counts are only read. */
  journal: Journal | undefined = undefined;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** `keyAt`: the key that counts reservations at a given time. */
  count(keyAt: (now: number) => string): SharedCount {
    return new StoreCount(this, this.store, this.clock, keyAt);
  }

  hold(wanted: Amount, limits: readonly Shared[], note: Note | undefined): ((spent: Amount) => void) | undefined {
    const { journal } = this;
    return journal && this.orFail(() => this.heldIn(journal, wanted, limits, note), undefined);
  }

  /** A store that fails ends the run: the counts are also read where nobody waits for them, such as when a call beside has ended. */
  orFail<T>(act: () => T, otherwise: T): T {
    try {
      return act();
    } catch (error) {
      if (this.journal === undefined) throw error;
      this.journal.fail(toErrorData(error));
      return otherwise;
    }
  }

  private heldIn(
    journal: Journal,
    wanted: Amount,
    limits: readonly Shared[],
    note: Note | undefined,
  ): ((spent: Amount) => void) | undefined {
    const now = this.clock.now();
    const amount = countsOf(wanted);
    const held = limits.flatMap(({ count, budget }) =>
      count instanceof StoreCount ? [{ count, key: count.keyAt(now), most: mostOf(budget) }] : [],
    );
    const isSpent = note?.atOnce === true;
    const changes = held.map(({ key, most }) => ({
      key,
      most,
      ...(isSpent ? { spent: amount } : { reserved: amount }),
    }));
    const line = note?.line();
    const sums = journal.spend(line, changes);
    if (sums === undefined) {
      for (const { count } of held) count.refresh();
      return undefined;
    }
    if (line !== undefined) note?.written();
    held.forEach(({ count }, at) => count.stands(sums[at]));
    return (spent) => {
      const more = countsOf(spent);
      const change = isSpent ? { spent: without(more, amount) } : { spent: more, reserved: without({}, amount) };
      // The amount belongs to the day of its reservation. If it can't be written, the whole reservation counts as spent.
      if (!isSpent || spent !== wanted)
        for (const { count, key } of held)
          count.expect({ key, ...change }, (expected, done) => journal.charge([expected], done));
    };
  }
}

class StoreCount implements SharedCount {
  spent = NO_AMOUNT;
  reserved = NO_AMOUNT;
  /** Changes that are written but not committed, so that the store does not include them yet. */
  private readonly expected = new Set<SpendingChange>();

  constructor(
    readonly book: StoreCounts,
    private readonly store: Store,
    private readonly clock: Clock,
    readonly keyAt: (now: number) => string,
  ) {}

  refresh(): boolean {
    const now = this.clock.now();
    return this.book.orFail(() => this.stands(this.store.spending(this.keyAt(now), now)), false);
  }

  /** Adds a change that the store includes once `write` calls back. */
  expect(change: SpendingChange, write: (change: SpendingChange, committed: () => void) => void): void {
    this.expected.add(change);
    if (change.key === this.keyAt(this.clock.now())) this.add(change);
    write(change, () => this.expected.delete(change));
  }

  /** Updates the count to that of the store. Returns whether it has changed. */
  stands(sums: SharedSpending | undefined): boolean {
    const before = JSON.stringify([this.spent, this.reserved]);
    [this.spent, this.reserved] = [amountOf(sums?.spent), amountOf(sums?.reserved)];
    const key = this.keyAt(this.clock.now());
    for (const change of this.expected) if (change.key === key) this.add(change);
    return before !== JSON.stringify([this.spent, this.reserved]);
  }

  private add({ spent, reserved }: SpendingChange): void {
    this.spent = addAmounts(this.spent, amountOf(spent));
    this.reserved = addAmounts(this.reserved, amountOf(reserved));
  }
}

/** Dollars are multiples of one billionth. Integers keep sums exact. */
const BILLION = 1e9;

function countsOf({ usd, tokens, calls, toolCalls }: Amount): Counts {
  return { usd: Math.round(usd * BILLION), tokens, calls, toolCalls };
}

function amountOf({ usd = 0, tokens = 0, calls = 0, toolCalls = 0 }: Counts = {}): Amount {
  return { usd: usd / BILLION, tokens, calls, toolCalls };
}

function without(counts: Counts, less: Counts): Counts {
  return Object.fromEntries(Object.entries(less).map(([name, count]) => [name, (counts[name] ?? 0) - count]));
}

function mostOf(budget: Budget): Counts {
  const most = (['tokens', 'calls', 'toolCalls'] as const).flatMap((name) => {
    const limit = budget[name];
    return limit === undefined ? [] : [[name, limit] as const];
  });
  return {
    ...Object.fromEntries(most),
    ...(budget.usd === undefined ? {} : { usd: Math.round(budget.usd * BILLION) }),
  };
}
