import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_AMOUNT } from '../../src/budget/amount.js';
import type { Amount } from '../../src/budget/amount.js';
import { BudgetLedger } from '../../src/budget/ledger.js';
import type { Reservation } from '../../src/budget/ledger.js';
import type { BudgetLimits } from '../../src/plan/budget.js';
import { THOROUGH } from '../thorough.js';
import { NOTHING, SlowLedger } from './slow-ledger.js';
import type { SlowEntry, Some } from './slow-ledger.js';

const MEASURES = ['usd', 'tokens', 'calls', 'toolCalls'] as const;
const LIMIT_PATHS = ['', 'a', 'a/b', 'c', 'a'];
const PATHS = ['a', 'a#2', 'a/x', 'a[k/c]/b', 'a~2/b#3/y', 'c', 'c[a@b#1]/b', 'd', 'ab'];

/** Dollars whose sums are not exact as they are; the others count in small numbers, so that limits are met. */
const some = (least: number): fc.Arbitrary<Some> =>
  fc.record({
    usd: fc.constantFrom(0n, 1n, 100_000_000n, 200_000_000n, 333_333_333n, 700_000_001n),
    tokens: fc.bigInt({ min: BigInt(least), max: 6n }),
    calls: fc.bigInt({ min: 0n, max: 1n }),
    toolCalls: fc.bigInt({ min: 0n, max: 1n }),
  });
const limits: fc.Arbitrary<Some> = fc.record({
  usd: fc.option(fc.constantFrom(300_000_000n, 1_000_000_000n, 1_400_000_001n), { nil: undefined }),
  tokens: fc.option(fc.bigInt({ min: 1n, max: 12n }), { nil: undefined }),
  calls: fc.option(fc.bigInt({ min: 1n, max: 4n }), { nil: undefined }),
  toolCalls: fc.option(fc.bigInt({ min: 1n, max: 4n }), { nil: undefined }),
});

type Op =
  | { readonly op: 'reserve'; readonly path: string; readonly wanted: Some }
  /** `billed`: a part of what is reserved, in percent; above 100 a provider billed more. */
  | { readonly op: 'settle'; readonly which: number; readonly billed: number }
  | { readonly op: 'cancel'; readonly which: number }
  | { readonly op: 'charge'; readonly path: string; readonly spent: Some }
  | { readonly op: 'raise'; readonly which: number; readonly by: Some };

const reserve: fc.Arbitrary<Op> = fc.record({
  op: fc.constant('reserve' as const),
  path: fc.constantFrom(...PATHS),
  wanted: some(0),
});
const settle = (most: number): fc.Arbitrary<Op> =>
  fc.record({ op: fc.constant('settle' as const), which: fc.nat(99), billed: fc.nat(most) });
const cancel: fc.Arbitrary<Op> = fc.record({ op: fc.constant('cancel' as const), which: fc.nat(99) });
const raise: fc.Arbitrary<Op> = fc.record({ op: fc.constant('raise' as const), which: fc.nat(99), by: some(0) });
const charge: fc.Arbitrary<Op> = fc.record({
  op: fc.constant('charge' as const),
  path: fc.constantFrom(...PATHS),
  spent: some(0),
});

const amountOf = (value: Some): Amount => ({
  usd: Number(value.usd ?? 0n) / 1e9,
  tokens: Number(value.tokens ?? 0n),
  calls: Number(value.calls ?? 0n),
  toolCalls: Number(value.toolCalls ?? 0n),
});

function limitsOf(value: Some): BudgetLimits {
  const amount = amountOf(value);
  return Object.fromEntries(MEASURES.flatMap((name) => (value[name] === undefined ? [] : [[name, amount[name]]])));
}

function above(spent: Some, wanted: Some): Some {
  const over = (name: keyof Some): bigint => (spent[name] ?? 0n) - (wanted[name] ?? 0n);
  return { usd: over('usd'), tokens: over('tokens'), calls: over('calls'), toolCalls: over('toolCalls') };
}

/** Both ledgers, side by side. */
class Pair {
  readonly fast: BudgetLedger;
  readonly slow: SlowLedger;
  readonly pairs: { readonly fast: Reservation; readonly slow: SlowEntry }[] = [];
  excess = new Map<(typeof MEASURES)[number], bigint>();

  constructor(own: readonly Some[]) {
    this.fast = new BudgetLedger(
      own.map((value, at) => ({ name: `l${at}`, path: LIMIT_PATHS[at] ?? '', budget: limitsOf(value) })),
    );
    this.slow = new SlowLedger(own.map((value, at) => ({ path: LIMIT_PATHS[at] ?? '', limits: value })));
  }

  do(op: Op): void {
    switch (op.op) {
      case 'reserve':
        this.pairs.push({
          fast: this.fast.reserve(op.path, amountOf(op.wanted)),
          slow: this.slow.reserve(op.path, op.wanted),
        });
        return;
      case 'settle':
        this.end(this.open(op.which, ['held']), op.billed);
        return;
      case 'cancel':
        this.end(this.open(op.which, ['held', 'waiting', 'short']), undefined);
        return;
      case 'charge':
        this.fast.charge(op.path, amountOf(op.spent));
        this.addExcess(op.spent);
        this.slow.end(this.slow.reserve(op.path, NOTHING), op.spent);
        return;
      case 'raise':
        this.raise(op.which, op.by);
    }
  }

  private open(which: number, states: readonly string[]): (typeof this.pairs)[number] | undefined {
    const open = this.pairs.filter(({ slow }) => states.includes(slow.state));
    return open[which % Math.max(open.length, 1)];
  }

  private end(pair: (typeof this.pairs)[number] | undefined, billed: number | undefined): void {
    if (pair === undefined) return;
    const { fast, slow } = pair;
    const share = (name: keyof Some): bigint => ((slow.wanted[name] ?? 0n) * BigInt(billed ?? 0)) / 100n;
    const spent: Some = {
      usd: share('usd'),
      tokens: share('tokens'),
      calls: share('calls'),
      toolCalls: share('toolCalls'),
    };
    if (billed === undefined) fast.cancel();
    else fast.settle(amountOf(spent));
    if ((billed ?? 0) > 100) this.addExcess(above(spent, slow.wanted));
    this.slow.end(slow, spent);
    // A second end does nothing.
    fast.settle({ usd: 9, tokens: 9, calls: 9, toolCalls: 9 });
  }

  private addExcess(spent: Some): void {
    for (const name of MEASURES) this.excess.set(name, (this.excess.get(name) ?? 0n) + (spent[name] ?? 0n));
  }

  private raise(which: number, by: Some): void {
    const at = which % this.slow.limits.length;
    const limit = this.slow.limits[at];
    if (limit === undefined) return;
    const add = MEASURES.flatMap((name) => (limit.limits[name] === undefined ? [] : [[name, by[name] ?? 0n] as const]));
    limit.limits = {
      ...limit.limits,
      ...Object.fromEntries(add.map(([name, more]) => [name, (limit.limits[name] ?? 0n) + more])),
    };
    const amount = amountOf(by);
    this.fast.raise(`l${at}`, { set: {}, add: Object.fromEntries(add.map(([name]) => [name, amount[name]])) });
    this.slow.serve();
  }

  /** All that must hold at any time. */
  check(): void {
    for (const { fast, slow } of this.pairs) if (slow.state !== 'over') expect(fast.state).toBe(slow.state);
    const standing = this.slow.limits.flatMap((limit, at) =>
      MEASURES.flatMap((measure) => {
        const most = limit.limits[measure];
        if (most === undefined) return [];
        const [spent, reserved] = [this.slow.spent(limit, measure), this.slow.reserved(limit, measure)];
        expect(spent + reserved <= most + (this.excess.get(measure) ?? 0n)).toBe(true);
        const unit = measure === 'usd' ? 1e9 : 1;
        const [used, held, whole] = [spent, reserved, most].map((value) => Number(value) / unit);
        return [{ name: `l${at}`, measure, spent: used, reserved: held, limit: whole }];
      }),
    );
    expect(this.fast.standing()).toEqual(standing);
    this.nobodyStarves();
  }

  /** Who waits lacks room, or somebody who came earlier and needs one of the same limits waits. */
  private nobodyStarves(): void {
    const waiting = this.slow.entries.filter(({ state }) => state === 'waiting');
    waiting.forEach((entry, at) => {
      const isBehind = waiting
        .slice(0, at)
        .some((other) => this.slow.over(other).some((limit) => this.slow.over(entry).includes(limit)));
      expect(isBehind || !this.slow.fits(entry)).toBe(true);
    });
  }
}

const RUNS = { numRuns: THOROUGH ? 3_000 : 300 };

describe('a ledger with random limits, reservations, settlements and raises', () => {
  it('decides as the slow one does, and spent and reserved never pass a limit', () => {
    const ops = fc.array(fc.oneof(reserve, reserve, settle(100), cancel, raise), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(limits, { minLength: 1, maxLength: 5 }), ops, (own, all) => {
        const pair = new Pair(own);
        for (const op of all) {
          pair.do(op);
          pair.check();
        }
        expect(pair.excess.size).toBe(0);
      }),
      RUNS,
    );
  });

  it('passes a limit by no more than what was billed above a reservation, or came unreserved', () => {
    const ops = fc.array(fc.oneof(reserve, reserve, settle(160), cancel, raise, charge), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(limits, { minLength: 1, maxLength: 5 }), ops, (own, all) => {
        const pair = new Pair(own);
        for (const op of all) {
          pair.do(op);
          pair.check();
        }
      }),
      RUNS,
    );
  });

  it('decides about everybody once those who hold something have ended, and wakes them', async () => {
    const ops = fc.array(fc.oneof(reserve, reserve, reserve, settle(100)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.array(limits, { minLength: 1, maxLength: 5 }), ops, async (own, all) => {
        const pair = new Pair(own);
        for (const op of all) pair.do(op);
        const decided = pair.pairs.map(({ fast }) => fast.decided ?? Promise.resolve());
        for (let at = 0; at < all.length; at += 1) pair.do({ op: 'settle', which: 0, billed: 50 });
        expect(pair.pairs.map(({ fast }) => fast.state)).not.toContain('waiting');
        await Promise.all(decided);
      }),
      RUNS,
    );
  });
});

describe('a ledger without limits', () => {
  it('holds everything', () => {
    expect(new BudgetLedger([]).reserve('a', { ...NO_AMOUNT, usd: 1e6 }).state).toBe('held');
  });
});
