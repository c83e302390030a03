import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';
import { billing, PRICES } from './billed.js';
import type { Billing } from './billed.js';
import { chain } from './plans.js';

const NOON = new Date(2026, 10, 23, 12).getTime();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Models during whose first call somebody sets the clock. */
function jumping(ms: number): Billing {
  const own = billing({
    say: () => {
      if (own.asked.length === 1) vi.setSystemTime(Date.now() + ms);
      return 'done';
    },
  });
  return own;
}

async function play(own: Billing, options: RunOptions) {
  const { outcome, error, runId } = await run(chain(), {
    inputs: { task: 'x' },
    models: own.models,
    prices: PRICES,
    ...options,
  }).result;
  return { outcome, error, runId, asked: own.asked.length };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
});

it('[bad input] a clock that is set back takes nothing off the time of a budget, and one that is set ahead counts', async () => {
  for (const [, options] of [
    ['in memory', () => ({})],
    ['recorded', () => ({ store: memoryStore() })],
  ] as const) {
    expect(await play(jumping(-HOUR_MS), { budget: '10m', ...options() })).toMatchObject({ outcome: 'succeeded' });
    const short = await play(jumping(HOUR_MS), { budget: '10m', ...options() });
    expect(short).toMatchObject({ outcome: 'out_of_budget', asked: 1, error: { details: { measure: 'time' } } });
  }
});

it('[bad input] a clock that is set back counts for the earlier day again: no day gets more than it allows', async () => {
  const store = memoryStore();
  const budget = { day: { calls: 4 } };
  expect(await play(billing(), { store, budget })).toMatchObject({ outcome: 'succeeded', asked: 3 });
  vi.setSystemTime(NOON + DAY_MS);
  // One call is made on the second day, the others when it is the first again, which has one left.
  const back = await play(jumping(-DAY_MS), { store, budget });
  expect(back).toMatchObject({ outcome: 'out_of_budget', asked: 2 });
  expect(back.error?.message).toContain('the budget of the day is used up: 4 calls of 4 calls spent');
  vi.setSystemTime(NOON + DAY_MS);
  expect(await play(billing(), { store, resume: back.runId })).toMatchObject({ outcome: 'succeeded', asked: 1 });
  expect(await play(billing(), { store, budget })).toMatchObject({ outcome: 'out_of_budget', asked: 2 });
});
