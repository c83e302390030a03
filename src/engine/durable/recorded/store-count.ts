import type { Clock } from '../../../base/clock.js';
import { SkeinError } from '../../../base/errors.js';
import type { Amount } from '../../../budget/amount.js';
import { NO_AMOUNT } from '../../../budget/amount.js';
import type { SharedCount } from '../../../budget/account.js';
import type { OpenSession } from '../../../journal/session.js';
import type { Counts, SharedSpending } from '../../../journal/store.js';
import { isLocked } from '../../../journal/store.js';
import type { Budget } from '../../../plan/budget.js';

/**
 * A limit that runs share, counted in their store. What is held stands there before a call is journaled, and so before it is made: runs of several processes
 * never hold more together than the limit.
 */
export class StoreCount implements SharedCount {
  spent = NO_AMOUNT;
  reserved = NO_AMOUNT;

  /** `keyAt`: under which key is counted what is reserved at a time. */
  constructor(
    private readonly session: Pick<OpenSession, 'store' | 'lease'>,
    private readonly clock: Clock,
    private readonly keyAt: (now: number) => string,
  ) {}

  refresh(): boolean {
    const now = this.clock.now();
    return this.stands(this.session.store.spending(this.keyAt(now), now));
  }

  hold(wanted: Amount, budget: Budget): ((spent: Amount) => void) | undefined {
    const { store, lease } = this.session;
    const now = this.clock.now();
    const key = this.keyAt(now);
    const reserved = countsOf(wanted);
    try {
      const { fits, ...standing } = store.spend(lease, { key, reserved, most: mostOf(budget) }, now);
      this.stands(standing);
      if (!fits) return undefined;
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
    return (spent) => this.settle(key, reserved, countsOf(spent));
  }

  /** It belongs to the day on which it was held. Where it can't be written, all that was held counts as spent. */
  private settle(key: string, held: Counts, spent: Counts): void {
    const { store, lease } = this.session;
    const now = this.clock.now();
    const reserved = Object.fromEntries(Object.entries(held).map(([name, count]) => [name, -count]));
    try {
      const { fits: _, ...standing } = store.spend(lease, { key, spent, reserved }, now);
      if (key === this.keyAt(now)) this.stands(standing);
    } catch (error) {
      if (!SkeinError.isInstance(error)) throw error;
    }
  }

  private stands({ spent, reserved }: SharedSpending): boolean {
    const before = JSON.stringify([this.spent, this.reserved]);
    [this.spent, this.reserved] = [amountOf(spent), amountOf(reserved)];
    return before !== JSON.stringify([this.spent, this.reserved]);
  }
}

/** Dollars are multiples of one billionth. Whole numbers keep sums exact. */
const BILLION = 1e9;

function countsOf({ usd, tokens, calls, toolCalls }: Amount): Counts {
  return { usd: Math.round(usd * BILLION), tokens, calls, toolCalls };
}

function amountOf({ usd = 0, tokens = 0, calls = 0, toolCalls = 0 }: Counts): Amount {
  return { usd: usd / BILLION, tokens, calls, toolCalls };
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
