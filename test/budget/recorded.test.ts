import { describe, expect, it } from 'vitest';
import { listRuns, memoryStore, readRun, run } from 'skein';
import type { RunOptions, Store } from 'skein';
import { graph } from 'skein/graph';
import { budgetKey } from '../../src/base/address.js';
import { linesOf, prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { billing, dollars, PRICES } from './billed.js';
import { chain, many, mapped, worker } from './plans.js';

type Plan = Parameters<typeof run>[0];

/** Runs a plan in a store, with models that bill, and gives what they billed, too. */
async function play(store: Store, plan: Plan, options: RunOptions = {}, own = billing()) {
  const result = await run(plan, { store, models: own.models, prices: PRICES, ...options }).result;
  return { ...result, asked: own.asked.length, billed: dollars(own) };
}

const items = many(100);
const task = { inputs: { task: 'x' } };

describe('a recorded run without a budget', () => {
  it('writes no record for what its calls may spend', async () => {
    const kinds = async (budget: RunOptions['budget']): Promise<readonly string[]> => {
      const store = memoryStore();
      const { runId } = await play(store, chain(), { ...task, ...(budget === undefined ? {} : { budget }) });
      return linesOf(store, runId).map((line) => (JSON.parse(line) as { readonly t: string }).t);
    };
    const without = await kinds(undefined);
    expect(without.filter((kind) => kind === 'start' || kind === 'spent')).toEqual([]);
    expect((await kinds('3-calls')).filter((kind) => kind === 'start').length).toBe(3);
  });
});

describe('a recorded run with a budget', () => {
  it('a map of 100 with money for 37: 37 results are kept, and the rest runs when it is raised', async () => {
    const store = memoryStore();
    const first = await play(store, mapped(), { inputs: { items }, budget: { usd: 0.07402 } });
    expect([first.outcome, first.asked]).toEqual(['out_of_budget', 37]);
    expect(first.census).toMatchObject({ succeeded: 37, out_of_budget: 64, cancelled: 0 });
    expect(readRun(store, first.runId).status).toBe('out_of_budget');
    const rest = await play(store, mapped(), { resume: first.runId, budget: '+1' });
    expect([rest.outcome, rest.asked, rest.reused]).toEqual(['succeeded', 63, 37]);
    expect((rest.state['all'] as unknown[]).length).toBe(100);
  });

  it('a thousand calls side by side with money for ten: ten are made', async () => {
    const store = memoryStore();
    const end = await play(store, mapped(), { inputs: { items: many(1_000) }, budget: { usd: 0.02002 } });
    expect([end.outcome, end.asked, end.billed]).toEqual(['out_of_budget', 10, 0.02]);
    expect(end.census).toMatchObject({ succeeded: 10, out_of_budget: 991, cancelled: 0 });
  });

  it('ends as before when nothing is raised, without a further call', async () => {
    const store = memoryStore();
    const { runId } = await play(store, chain(), { ...task, budget: '1-calls' });
    const again = await play(store, chain(), { resume: runId });
    expect([again.outcome, again.asked, again.error?.message]).toEqual([
      'out_of_budget',
      0,
      'the budget of the run is used up: 1 call of 1 call spent; what comes next may take 1 call',
    ]);
  });

  it('a sum replaces the limit, one with a plus adds to it, and both last', async () => {
    const store = memoryStore();
    const { runId } = await play(store, chain(), { ...task, budget: '1-calls' });
    expect(await play(store, chain(), { resume: runId, budget: '+1-calls' })).toMatchObject({ asked: 1 });
    expect(await play(store, chain(), { resume: runId })).toMatchObject({ asked: 0, outcome: 'out_of_budget' });
    expect(await play(store, chain(), { resume: runId, budget: '3-calls' })).toMatchObject({
      asked: 1,
      outcome: 'succeeded',
    });
  });

  it('is refused before anything runs when it would get less than it has spent, or more of what is not limited', async () => {
    const store = memoryStore();
    const { runId } = await play(store, chain(), { ...task, budget: '0.0041' });
    const batches = store.read(runId).length;
    const own = billing();
    const refused = (budget: string) => play(store, chain(), { resume: runId, budget }, own);
    await expect(refused('0.001')).rejects.toMatchObject({
      code: 'SKEIN_USAGE',
      message: 'a budget of $0.001 is less than the run has spent: $0.004',
    });
    await expect(refused('+5-calls')).rejects.toMatchObject({ code: 'SKEIN_USAGE' });
    expect([own.asked.length, store.read(runId).length, listRuns(store)[0]?.status]).toEqual([
      0,
      batches,
      'out_of_budget',
    ]);
  });

  it('counts what sessions without a budget have spent, and calls that an edit has made useless', async () => {
    const store = memoryStore();
    const own = billing({
      say: (_, name) => (name === 'm' && own.asked.length === 3 ? Promise.reject(new Error('no')) : 'done'),
    });
    const { runId, outcome } = await play(store, chain(), task, own);
    expect([outcome, own.asked.length]).toEqual(['failed', 3]);
    const edited = chain({}, 'Be brief.');
    const again = await play(store, edited, { resume: runId, budget: '4-calls' });
    expect([again.outcome, again.asked, again.error?.message]).toEqual([
      'out_of_budget',
      2,
      'the budget of the run is used up: 4 calls of 4 calls spent; what comes next may take 1 call',
    ]);
  });

  it('begins at nothing when it is forked', async () => {
    const store = memoryStore();
    const { runId } = await play(store, chain(), { ...task, budget: '2-calls' });
    const fork = await play(store, chain(), { fork: { run: runId } });
    expect([fork.outcome, fork.asked]).toEqual(['succeeded', 1]);
  });

  it('writes nothing of it where there is none', async () => {
    const store = memoryStore();
    const { runId } = await play(store, chain(), task);
    const text = store
      .read(runId)
      .map((batch) => batch.text)
      .join('\n');
    expect(text).not.toMatch(/"reserved"|"t":"spent"|"budget"/);
  });
});

describe('a run that goes on', () => {
  it('takes a change that stands beside its record: what waits goes on, and a later resume does not add it again', async () => {
    const store = memoryStore();
    let release = (): void => undefined;
    const slow = new Promise<void>((done) => (release = done));
    const flow = graph<Record<string, string>>({ reducers: {} })
      .node('begin', () => 'go')
      .node('one', worker('one'))
      .node('two', worker('two'))
      .node('three', worker('three'))
      .node('slow', async ({ begin: _begin }: { begin: string }) => (await slow, 'done'))
      .addEdge('begin', 'slow')
      .addEdge('begin', 'one')
      .addEdge('one', 'two')
      .addEdge('two', 'three')
      .setEntry('begin')
      .compile();
    const own = billing();
    const going = run(flow, { ...task, store, models: own.models, budget: '1-calls', runId: 'live' });
    while (own.asked.length < 1) await new Promise((next) => setTimeout(next, 5));
    const value = JSON.stringify({ limit: 'run', change: { set: {}, add: { calls: 1 } } });
    store.answer('live', { key: budgetKey(1), id: '1', value, at: Date.now(), by: 'command' });
    while (own.asked.length < 2) await new Promise((next) => setTimeout(next, 5));
    release();
    expect([(await going.result).outcome, own.asked.length]).toEqual(['out_of_budget', 2]);
    const again = await play(store, flow, { resume: 'live' });
    expect([again.outcome, again.asked]).toEqual(['out_of_budget', 0]);
    expect((await play(store, flow, { resume: 'live', budget: '+1-calls' })).outcome).toBe('succeeded');
  });
});

describe('a process that dies under a budget', () => {
  it('at any record: what was reserved and has no end counts as spent, and the bill never passes the limit', async () => {
    const store = memoryStore();
    // Six calls fit, and no seventh beside them.
    const limit = 0.0141;
    const own = billing();
    const { runId } = await play(store, mapped({ concurrency: 3 }), { inputs: { items: many(6) }, budget: limit }, own);
    const whole = dollars(own);
    expect(whole).toBe(0.012);
    for (const { batches, lines } of prefixesOf(runId, store.read(runId))) {
      const left = storeWith(runId, batches, store);
      // The calls of which the start is recorded were made.
      const made = lines.filter((line) => line.includes('"t":"start"')).length * 0.002;
      const rest = billing();
      const again = await play(left, mapped({ concurrency: 3 }), { resume: runId }, rest);
      expect(made + dollars(rest)).toBeLessThanOrEqual(limit);
      expect(['succeeded', 'out_of_budget']).toContain(again.outcome);
    }
  });
});
