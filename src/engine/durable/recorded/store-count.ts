import type { Clock } from '../../../base/clock.js';
import type { Note, Shared, SharedBook, SharedCount } from '../../../budget/account.js';
import type { Amount } from '../../../budget/amount.js';
import { addAmounts, NO_AMOUNT } from '../../../budget/amount.js';
import type { Journal } from '../../../journal/journal.js';
import type { Counts, SharedSpending, SpendingChange, Store } from '../../../journal/store.js';
import type { Budget } from '../../../plan/budget.js';

/**
 * What a run spends under limits that runs share, counted in their store. What is held stands there from the commit that records the call on, and so
 * before it is made: runs of several processes never hold more together than a limit. It is settled with the commit that records what the call gave.
 */
export class StoreCounts implements SharedBook {
  /** Absent: the counts are only looked at. */
  journal: Journal | undefined = undefined;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** `keyAt`: under which key is counted what is reserved at a time. */
  count(keyAt: (now: number) => string): SharedCount {
    return new StoreCount(this, this.store, this.clock, keyAt);
  }

  hold(wanted: Amount, limits: readonly Shared[], note: Note | undefined): ((spent: Amount) => void) | undefined {
    const { journal } = this;
    if (journal === undefined) return undefined;
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
      // It belongs to the day on which it was held. Where it can't be written, all that was held counts as spent.
      if (!isSpent || spent !== wanted)
        for (const { count, key } of held)
          count.expect({ key, ...change }, (expected, done) => journal.charge([expected], done));
    };
  }
}

/** The count under one limit. */
class StoreCount implements SharedCount {
  spent = NO_AMOUNT;
  reserved = NO_AMOUNT;
  /** Changes that are written, and not committed: the store does not know of them. */
  private readonly expected = new Set<SpendingChange>();

  constructor(
    readonly book: SharedBook,
    private readonly store: Store,
    private readonly clock: Clock,
    readonly keyAt: (now: number) => string,
  ) {}

  refresh(): boolean {
    const now = this.clock.now();
    return this.stands(this.store.spending(this.keyAt(now), now));
  }

  /** A change of which the store knows once `write` says so. */
  expect(change: SpendingChange, write: (change: SpendingChange, committed: () => void) => void): void {
    this.expected.add(change);
    if (change.key === this.keyAt(this.clock.now())) this.add(change);
    write(change, () => this.expected.delete(change));
  }

  /** So it stands in the store. Says whether it did not stand so. */
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

/** Dollars are multiples of one billionth. Whole numbers keep sums exact. */
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
