import { describe, expect, it } from 'vitest';
import { memoryStore, readRun, run } from 'skein';
import type { RunOptions, Store } from 'skein';
import { billing, PRICES } from './billed.js';
import { chain } from './plans.js';

async function play(store: Store, options: RunOptions) {
  const own = billing();
  const result = await run(chain(), { store, models: own.models, ...options }).result;
  return { ...result, asked: own.asked.length };
}

/** Ten times as dear. */
const DEARER = { models: { 'own/*': { input: 10, output: 100 } } };

describe('the prices of a recorded run', () => {
  it('are kept: a resume and a fork need not be given them again', async () => {
    const store = memoryStore();
    const begun = { inputs: { task: 'x' }, prices: PRICES, budget: '0.003', runId: 'r' };
    expect(await play(store, begun)).toMatchObject({ outcome: 'out_of_budget', asked: 1 });
    expect(await play(store, { resume: 'r', budget: '0.005' })).toMatchObject({ outcome: 'out_of_budget', asked: 1 });
    const fork = await play(store, { fork: { run: 'r' }, budget: '0.005' });
    expect(fork).toMatchObject({ outcome: 'succeeded', asked: 1, spent: { usd: 0.002, unpricedCalls: 0 } });
    expect(await play(store, { resume: 'r', budget: '+1' })).toMatchObject({ outcome: 'succeeded', asked: 1 });
    expect(readRun(store, 'r')).toMatchObject({ usd: 0.006, unpricedCalls: 0 });
  });

  it('give way to those that a resume is given, which the next one has; what was called before keeps its cost', async () => {
    const store = memoryStore();
    await play(store, { inputs: { task: 'x' }, prices: PRICES, budget: '0.003', runId: 'r' });
    await play(store, { resume: 'r', prices: DEARER, budget: '0.03' });
    expect(readRun(store, 'r').usd).toBe(0.022);
    expect(await play(store, { resume: 'r', budget: '1' })).toMatchObject({ outcome: 'succeeded', asked: 1 });
    expect(readRun(store, 'r').usd).toBe(0.042);
  });
});
