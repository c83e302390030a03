import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { RunOptions, SkeinError, Store } from 'skein';
import { faultyStore } from 'skein/testing';
import { billing, dollars, PRICES } from './billed.js';
import { chain, many, mapped } from './plans.js';

type Plan = Parameters<typeof run>[0];

/** A call of the models costs $0.002, and reserves a little more. */
const DAY = { day: { usd: 0.0101 } };
const LATE = new Date(2026, 10, 23, 23, 59, 59);

/** Runs a plan in a store, with models that bill, and gives what they billed, too. */
async function play(store: Store | undefined, plan: Plan, options: RunOptions = {}, own = billing()) {
  const inputs = { task: 'x' };
  const result = await run(plan, { inputs, models: own.models, prices: PRICES, ...(store && { store }), ...options })
    .result;
  return { ...result, asked: own.asked.length, billed: dollars(own) };
}

/** Three calls one after the other. */
const three = () => chain();
const DAY_23 = `day:2026-11-23\n${three().plan.name}`;
const DAY_24 = `day:2026-11-24\n${three().plan.name}`;

function withDay<T extends { readonly plan: object }>(compiled: T, calls: number): T {
  return { ...compiled, plan: { ...compiled.plan, budget: { day: { calls } } } };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(2026, 10, 23, 12) });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a budget of a day', () => {
  it('holds for all runs of the workflow on that day; the next day begins anew', async () => {
    const store = memoryStore();
    expect(await play(store, three(), { budget: DAY })).toMatchObject({ outcome: 'succeeded', asked: 3 });
    const second = await play(store, three(), { budget: DAY });
    expect(second).toMatchObject({ outcome: 'out_of_budget', asked: 2 });
    expect(second.error).toMatchObject({
      code: 'SKEIN_BUDGET',
      message: 'the budget of the day is used up: $0.01 of $0.0101 spent; what comes next may take $0.002013',
      hint: 'resume the run tomorrow, or raise day in the budget of the workflow and resume it now',
    });
    expect(await play(store, three(), { resume: second.runId })).toMatchObject({ outcome: 'out_of_budget', asked: 0 });
    vi.setSystemTime(new Date(2026, 10, 24, 0, 0, 1));
    expect(await play(store, three(), { resume: second.runId })).toMatchObject({ outcome: 'succeeded', asked: 1 });
  });

  it('is that of a workflow of this name, and holds in maps and in workflows that are called', async () => {
    const store = memoryStore();
    await play(store, three(), { budget: { day: { calls: 3 } } });
    const called = definePlan({
      name: 'outer',
      inputs: ['items'],
      channels: { all: 'last' },
      nodes: [
        {
          id: 'inner',
          kind: 'call',
          plan: withDay(mapped(), 4),
          inputs: { items: { channel: 'items' } },
          result: 'all',
          output: 'all',
        } as never,
      ],
    });
    const inputs = { items: many(3) };
    expect(await play(store, called, { inputs })).toMatchObject({ outcome: 'succeeded', asked: 3 });
    const rest = await play(store, mapped(), { inputs, budget: { day: { calls: 4 } } });
    expect(rest).toMatchObject({ outcome: 'out_of_budget', asked: 1, census: { succeeded: 1 } });
    expect(rest.error?.message).toContain('the budget of the day is used up: 4 calls of 4 calls spent');
  });

  it('counts a call for the day on which it was reserved, whenever it is answered', async () => {
    const store = memoryStore();
    vi.setSystemTime(LATE);
    const over = billing({
      say: () => {
        vi.setSystemTime(new Date(2026, 10, 24, 0, 0, 1));
        return 'done';
      },
    });
    const budget = { day: { calls: 3 } };
    await play(store, three(), { budget }, over);
    expect(store.spending(DAY_23, Date.now()).spent).toMatchObject({ calls: 1 });
    expect(store.spending(DAY_24, Date.now()).spent).toMatchObject({ calls: 2 });
    expect(await play(store, three(), { budget })).toMatchObject({ outcome: 'out_of_budget', asked: 1 });
  });

  it('a run that waits beside others goes on when the day ends', async () => {
    const store = memoryStore();
    vi.setSystemTime(LATE);
    let calls = 0;
    const own = billing({
      say: async () => {
        calls += 1;
        if (calls === 1) {
          vi.setSystemTime(new Date(2026, 10, 24, 0, 0, 1));
          await new Promise((later) => setTimeout(later, 1_500));
        }
        return 'done';
      },
    });
    const options = { inputs: { items: many(2) }, budget: { day: { calls: 1 } } };
    expect(await play(store, mapped(), options, own)).toMatchObject({ outcome: 'succeeded', asked: 2 });
  });

  it('runs at the same time never pass it together: who finds no room waits for what others hold, and goes on', async () => {
    const store = memoryStore();
    const own = billing();
    const budget = { day: { usd: 0.0141 } };
    const runs = await Promise.all([1, 2, 3].map(() => play(store, three(), { budget }, own)));
    expect(dollars(own)).toBe(0.014);
    expect(runs.map(({ outcome }) => outcome)).toContain('out_of_budget');
    vi.setSystemTime(new Date(2026, 10, 23, 13));
    expect(store.spending(DAY_23, Date.now())).toMatchObject({ spent: { usd: 14_000_000, calls: 7 }, reserved: {} });
  });

  it('a run waits for what another one holds, also when nothing else of it goes on', async () => {
    const store = memoryStore();
    let free: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (free = resolve));
    const slow = billing({ say: () => held.then(() => 'done'), usage: { inputTokens: 10, outputTokens: 1 } });
    const budget = { day: { usd: 0.004 } };
    const one = { inputs: { items: many(1) }, budget };
    const first = play(store, mapped(), one, slow);
    await vi.waitFor(() => expect(slow.asked).toHaveLength(1), 60_000);
    const own = billing();
    const second = play(store, mapped(), one, own);
    await new Promise((later) => setTimeout(later, 700));
    expect(own.asked).toHaveLength(0);
    free();
    expect((await first).outcome).toBe('succeeded');
    expect(await second).toMatchObject({ outcome: 'succeeded', asked: 1 });
  });

  it('is raised in the workflow, in code and with what a resume is given', async () => {
    const store = memoryStore();
    const { runId } = await play(store, three(), { budget: { day: { calls: 1 } } });
    const more = await play(store, three(), { resume: runId, budget: { day: { calls: 2 } } });
    expect(more).toMatchObject({ outcome: 'out_of_budget', asked: 1 });
    const { runId: other } = await play(store, three(), { budget: { day: { calls: 3 } } });
    expect(await play(store, three(), { fork: { run: other }, budget: { day: { calls: 9 } } })).toMatchObject({
      outcome: 'succeeded',
    });
  });

  it('with onLimit stop ends the run at once', async () => {
    const store = memoryStore();
    const budget = { onLimit: 'stop', day: { calls: 4 } } as const;
    await play(store, three(), { budget });
    expect(await play(store, mapped(), { budget, inputs: { items: many(9) } })).toMatchObject({
      outcome: 'out_of_budget',
      asked: 4,
    });
  });

  it('is refused without a store, before anything runs', async () => {
    const own = billing();
    const refused = await play(undefined, three(), { budget: DAY }, own).catch((error: unknown) => error);
    expect(String(refused)).toContain('limits what its runs spend on a calendar day, and this run is not recorded');
    expect((refused as SkeinError).hint).toContain('run(workflow, { store })');
    await expect(play(undefined, three(), { budget: { thread: { calls: 1 } } }, own)).rejects.toThrow('on a thread');
    expect(own.asked).toEqual([]);
  });

  it('mock runs neither need a store nor count', async () => {
    const store = memoryStore();
    const budget = { day: { calls: 3 } };
    const mock = { models: { env: {}, noProbe: true, mock: true } };
    expect((await run(three(), { inputs: { task: 'x' }, budget, ...mock }).result).outcome).toBe('succeeded');
    for (let at = 0; at < 2; at += 1) await run(three(), { inputs: { task: 'x' }, budget, store, ...mock }).result;
    expect(await play(store, three(), { budget })).toMatchObject({ outcome: 'succeeded', asked: 3 });
  });

  it('whenever a process dies, what it held counts once: its resume and others spend what is left', async () => {
    const budget = { day: { calls: 4 } };
    for (let failAt = 1, failed = true; failed; failAt += 1) {
      vi.setSystemTime(new Date(2026, 10, 23, 12));
      const store = memoryStore();
      const own = billing();
      const faulty = faultyStore(store, { failAt, once: false });
      await play(faulty, three(), { budget, runId: 'r' }, own).catch(() => undefined);
      ({ failed } = faulty);
      const died = own.asked.length;
      // The lease of the one who died is over.
      vi.setSystemTime(new Date(2026, 10, 23, 13));
      const before = store.spending(DAY_23, Date.now()).spent['calls'] ?? 0;
      expect([before - died, failAt]).toEqual([before > died ? 1 : 0, failAt]);
      if (store.run('r') !== undefined) await play(store, three(), { resume: 'r' }, own);
      for (let more = 0; more < 2; more += 1) await play(store, three(), { budget }, own);
      expect(store.spending(DAY_23, Date.now())).toMatchObject({ spent: { calls: 4 } });
      expect([own.asked.length, failAt]).toEqual([4 - (before - died), failAt]);
    }
  });
});

describe('a budget of a thread', () => {
  it('holds for all of its turns, on whatever day, and for no other thread', async () => {
    const store = memoryStore();
    const budget = { thread: { calls: 7 } };
    const asked: number[] = [];
    for (let turn = 1; turn <= 10; turn += 1) {
      vi.setSystemTime(new Date(2026, 10, 20 + turn));
      const { outcome, asked: calls } = await play(store, three(), { thread: 'ada', budget });
      asked.push(calls);
      if (outcome === 'out_of_budget') break;
    }
    expect(asked).toEqual([3, 3, 1]);
    expect(await play(store, three(), { thread: 'bob', budget })).toMatchObject({ outcome: 'succeeded' });
    expect(await play(store, three(), { budget })).toMatchObject({ outcome: 'succeeded' });
  });
});
