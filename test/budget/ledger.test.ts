import { describe, expect, it } from 'vitest';
import type { Amount } from '../../src/budget/amount.js';
import { BudgetLedger } from '../../src/budget/ledger.js';
import type { Limit } from '../../src/budget/ledger.js';
import type { Budget } from '../../src/plan/budget.js';

const limit = (path: string, budget: Budget, worked?: () => number): Limit => ({
  name: path === '' ? 'run' : `step ${path}`,
  path,
  budget,
  ...(worked === undefined ? {} : { worked }),
});

const amount = (more: Partial<Amount>): Amount => ({ usd: 0, tokens: 0, calls: 0, toolCalls: 0, ...more });
const usd = (value: number): Amount => amount({ usd: value });

describe('a reservation', () => {
  it('is held where there is room under every limit above the step, and settled with what was spent', () => {
    const ledger = new BudgetLedger([limit('', { usd: 1 }), limit('review', { usd: 0.5, calls: 3 })]);
    const one = ledger.reserve('review/loop#3/critic', amount({ usd: 0.3, calls: 1 }));
    expect(one).toMatchObject({ state: 'held', decided: undefined, lack: undefined });
    ledger.reserve('draft', usd(0.2));
    one.settle(amount({ usd: 0.1, calls: 1 }));
    expect(ledger.standing()).toEqual([
      { name: 'run', measure: 'usd', spent: 0.1, reserved: 0.2, limit: 1 },
      { name: 'step review', measure: 'usd', spent: 0.1, reserved: 0, limit: 0.5 },
      { name: 'step review', measure: 'calls', spent: 1, reserved: 0, limit: 3 },
    ]);
  });

  it.each([
    ['a visit', 'scan#2'],
    ['a round of a loop', 'scan#3/critic'],
    ['an item of a map, whatever its key', 'scan[a/b#2~3@x.ts]/read'],
    ['an attempt, and one of a step around it', 'scan~2/read~3'],
    ['a visit, an attempt and a round of it', 'scan#2~3#4/critic'],
  ])('spends from the limit of the node at %s', (_name, path) => {
    const ledger = new BudgetLedger([limit('scan', { calls: 1 })]);
    ledger.reserve(path, amount({ calls: 1 })).settle(amount({ calls: 1 }));
    expect(ledger.standing()[0]).toMatchObject({ spent: 1 });
    expect(ledger.reserve('scanner', amount({ calls: 1 })).state).toBe('held');
    expect(ledger.reserve('other/scan', amount({ calls: 1 })).state).toBe('held');
  });

  it('that can never fit is short at once; the tightest limit is named', () => {
    const ledger = new BudgetLedger([
      limit('', { usd: 1, tokens: 100 }),
      limit('a', { usd: 0.5, tokens: 1_000, onLimit: 'stop' }),
    ]);
    ledger.charge('a', amount({ usd: 0.45, tokens: 50 }));
    const short = ledger.reserve('a/x', amount({ usd: 0.6, tokens: 80 }));
    expect(short).toMatchObject({ state: 'short', decided: undefined });
    expect(short.lack).toEqual({
      name: 'step a',
      path: 'a',
      measure: 'usd',
      wanted: 0.6,
      spent: 0.45,
      reserved: 0,
      limit: 0.5,
      onLimit: 'stop',
    });
    expect(ledger.reserve('a/x', usd(0.05)).state).toBe('held');
  });

  it('waits while others hold what it needs, and comes in order', async () => {
    const ledger = new BudgetLedger([limit('', { usd: 1 })]);
    const first = ledger.reserve('a', usd(0.8));
    const second = ledger.reserve('b', usd(0.7));
    const third = ledger.reserve('c', usd(0.1));
    // It would fit, but then the one before it might wait for ever.
    expect([second.state, third.state]).toEqual(['waiting', 'waiting']);
    expect(second.lack).toMatchObject({ name: 'run', wanted: 0.7, reserved: 0.8 });
    first.settle(usd(0.2));
    await Promise.all([second.decided, third.decided]);
    expect([second.state, third.state]).toEqual(['held', 'held']);
  });

  it('that waits turns short when what others spent leaves no room', async () => {
    const ledger = new BudgetLedger([limit('', { usd: 1 })]);
    const first = ledger.reserve('a', usd(0.8));
    const second = ledger.reserve('b', usd(0.7));
    const third = ledger.reserve('c', usd(0.6));
    first.settle(usd(0.4));
    await second.decided;
    expect([second.state, third.state]).toEqual(['short', 'held']);
    expect(second.lack).toMatchObject({ spent: 0.4, limit: 1, wanted: 0.7 });
  });

  it('that waits for a full limit holds nobody up who does not need it', () => {
    const ledger = new BudgetLedger([limit('', { usd: 9 }), limit('a', { calls: 1 })]);
    ledger.reserve('a/x', amount({ usd: 1, calls: 1 }));
    const waits = ledger.reserve('a/y', amount({ usd: 1, calls: 1 }));
    expect(waits.state).toBe('waiting');
    const held = ledger.reserve('b', usd(1));
    expect(held.state).toBe('held');
  });

  it('that was passed over for one limit comes before later ones under a limit that filled up since', () => {
    const ledger = new BudgetLedger([limit('', { tokens: 6 }), limit('a/b', { tokens: 4 })]);
    const [first, , large, small, last] = [
      ['a', 2],
      ['a/b', 2],
      ['a/b', 3],
      ['a', 1],
      ['a', 1],
    ].map(([path, tokens]) => ledger.reserve(String(path), amount({ tokens: Number(tokens) })));
    expect([large, small, last].map((one) => one?.state)).toEqual(['waiting', 'waiting', 'waiting']);
    first?.settle(amount({ tokens: 1 }));
    // `large` has room under the run's limit until `small` is held.
    expect([large, small, last].map((one) => one?.state)).toEqual(['waiting', 'held', 'waiting']);
    small?.settle(amount({ tokens: 0 }));
    expect([large, last].map((one) => one?.state)).toEqual(['waiting', 'held']);
  });
});

describe('a budget that changes', () => {
  it('lets those continue who waited, in order, and those who were short when they ask again', async () => {
    const ledger = new BudgetLedger([limit('', { usd: 1 })]);
    ledger.reserve('a', usd(0.8));
    const waits = ledger.reserve('b', usd(0.7));
    expect(ledger.reserve('c', usd(2)).state).toBe('short');
    ledger.raise('run', { set: {}, add: { usd: 0.5 } });
    await waits.decided;
    expect(waits.state).toBe('held');
    ledger.raise('run', { set: { usd: 4 }, add: {} });
    expect(ledger.reserve('c', usd(2)).state).toBe('held');
    expect(ledger.standing()).toMatchObject([{ reserved: 3.5, limit: 4 }]);
  });

  it('that is lowered below what is spent makes those short who wait', async () => {
    const ledger = new BudgetLedger([limit('', { usd: 1 })]);
    ledger.charge('a', usd(0.2));
    ledger.reserve('a', usd(0.8));
    const waits = ledger.reserve('b', usd(0.7));
    ledger.raise('run', { set: { usd: 0.1 }, add: {} });
    await waits.decided;
    expect(waits).toMatchObject({ state: 'short', lack: { limit: 0.1, spent: 0.2 } });
  });

  it('needs a name that exists, and a limit to add to', () => {
    const ledger = new BudgetLedger([limit('', { usd: 1 })]);
    expect(() => ledger.raise('step a', { set: { usd: 1 }, add: {} })).toThrow(/there is no budget "step a"/);
    expect(() => ledger.raise('run', { set: {}, add: { calls: 5 } })).toThrow(
      /no limit to which 5 calls could be added/,
    );
  });
});

describe('what is billed', () => {
  it('above a reservation is taken off what is left; what is not wanted of a measure that is used up holds nobody up', () => {
    const ledger = new BudgetLedger([limit('', { usd: 1, toolCalls: 2 })]);
    ledger.reserve('a', usd(0.9)).settle(usd(1.25));
    expect(ledger.standing()[0]).toMatchObject({ spent: 1.25, reserved: 0 });
    expect(ledger.reserve('a', usd(0.01)).state).toBe('short');
    expect(ledger.reserve('a', amount({ toolCalls: 1 })).state).toBe('held');
  });

  it('sums exactly, whatever the order', () => {
    const ledger = new BudgetLedger([limit('', { usd: 0.3 })]);
    ledger.charge('a', usd(0.1));
    ledger.reserve('b', usd(0.1)).settle(usd(0.1));
    expect(ledger.reserve('c', usd(0.100_000_001)).state).toBe('short');
    expect(ledger.reserve('c', usd(0.1)).state).toBe('held');
  });

  it('is settled once, and a reservation that was cancelled gives everything back', async () => {
    const ledger = new BudgetLedger([limit('', { usd: 1 })]);
    const one = ledger.reserve('a', usd(1));
    const waits = ledger.reserve('b', usd(1));
    const next = ledger.reserve('c', usd(1));
    waits.cancel();
    one.cancel();
    one.settle(usd(1));
    await next.decided;
    expect(next.state).toBe('held');
    expect(ledger.standing()).toMatchObject([{ spent: 0, reserved: 1 }]);
  });
});

describe('a limit of time', () => {
  it('lets nothing begin once it is over', () => {
    let worked = 0;
    const ledger = new BudgetLedger([limit('', { time: 1_000 }, () => worked)]);
    expect(ledger.reserve('a', usd(1)).state).toBe('held');
    worked = 1_000;
    const late = ledger.reserve('a', usd(1));
    expect(late).toMatchObject({ state: 'short', lack: { name: 'run', measure: 'time', spent: 1_000, limit: 1_000 } });
    ledger.raise('run', { set: {}, add: { time: 500 } });
    expect(ledger.reserve('a', usd(1)).state).toBe('held');
  });
});
