import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { billing, dollars, PRICES } from './billed.js';
import type { Said } from './billed.js';
import { chain, many, mapped, worker } from './plans.js';

const stores: readonly (readonly [string, () => RunOptions])[] = [
  ['in memory', () => ({})],
  ['recorded', () => ({ store: memoryStore() })],
];

const inner = () => {
  const { plan, bindings } = chain();
  return { plan, bindings };
};

describe.each(stores)('a budget holds for all that is below it, %s', (_, options) => {
  const play = async (workflow: Parameters<typeof run>[0], more: RunOptions, own = billing()) => {
    const result = await run(workflow, {
      models: own.models,
      prices: PRICES,
      inputs: { task: 'x' },
      ...more,
      ...options(),
    }).result;
    return { ...result, asked: own.asked.length, own };
  };

  it.each([
    ['a called workflow', { kind: 'call', outputs: { one: 'one' } }, 2],
    ['the rounds of a loop', { kind: 'loop', until: () => false, maxRounds: 9, outputs: { one: 'one' } }, 5],
    [
      'the items of a map',
      { kind: 'map', over: { channel: 'items' }, item: 'task', result: 'three', output: 'one', maxItems: 9 },
      4,
    ],
  ])('%s', async (_name, kind, calls) => {
    const whole = definePlan({
      name: 'around',
      inputs: ['task', 'items'],
      channels: { one: 'last' },
      nodes: [{ id: 'inside', plan: inner(), budget: { calls }, ...kind } as never],
    });
    const { outcome, asked, error } = await play(whole, { inputs: { task: 'x', items: many(3) } });
    expect([outcome, asked]).toEqual(['out_of_budget', calls]);
    expect(error?.details).toMatchObject({ name: 'step inside', path: 'inside', measure: 'calls', limit: calls });
  });

  it('the phases of a supervised step', async () => {
    const flow = graph<{ task: string; one: string }>({ reducers: {} })
      .node('one', worker('one'), { supervise: true })
      .setEntry('one')
      .compile();
    const { outcome, asked, census } = await play(flow, { budget: '2-calls' });
    expect([outcome, asked]).toEqual(['out_of_budget', 2]);
    expect(census).toMatchObject({ out_of_budget: 1, failed: 0 });
  });

  it('runs that a function starts: whatever the function makes of it, its step is out of budget, and is done again', async () => {
    const outcomes: string[] = [];
    const flow = graph<{ task: string; helped: string; after: string }>({ reducers: {} })
      .node('helped', async ({ task }: { task: string }, step) => {
        const { outcome } = await run(mapped(), {
          inputs: { items: [task, task, task] },
          prices: PRICES,
          ...step.runOptions,
        }).result;
        outcomes.push(outcome);
        return 'never mind';
      })
      .node('after', ({ helped }: { helped: string }) => `${helped}!`)
      .setEntry('helped')
      .compile();
    const { outcome, asked, state, own } = await play(flow, { budget: { usd: 0.0045 } });
    expect([outcome, asked, outcomes, state['helped']]).toEqual(['out_of_budget', 2, ['out_of_budget'], undefined]);
    expect(dollars(own)).toBe(0.004);
  });

  it('runs that a tool of an agent starts', async () => {
    const helper = tool({
      name: 'help',
      inputSchema: { type: 'object', properties: {} },
      effect: 'read',
      execute: async (_input, step) =>
        (await run(chain(), { inputs: { task: 'x' }, prices: PRICES, ...step.runOptions }).result).outcome,
    });
    const own = billing({
      say: ({ caller }, name): Said => (name === 'lead' && caller.turn === 1 ? { calls: [['help', {}]] } : 'done'),
    });
    const flow = graph<{ task: string; lead: string }>({ reducers: {} })
      .node(
        'lead',
        agentNode(agent({ name: 'lead', model: 'own/lead', tools: [helper], settings: { maxOutputTokens: 100 } })),
      )
      .setEntry('lead')
      .compile();
    const { outcome, asked } = await play(flow, { budget: '3-calls' }, own);
    expect([outcome, asked]).toEqual(['out_of_budget', 3]);
    const enough = await play(
      flow,
      { budget: '5-calls' },
      billing({
        say: ({ caller }, name): Said => (name === 'lead' && caller.turn === 1 ? { calls: [['help', {}]] } : 'done'),
      }),
    );
    expect([enough.outcome, enough.asked]).toEqual(['succeeded', 5]);
  });

  it('calls of tools', async () => {
    const looked: number[] = [];
    const look = tool({
      name: 'look',
      inputSchema: { type: 'object', properties: {} },
      effect: 'read',
      execute: () => `seen ${looked.push(1)}`,
    });
    const own = billing({ say: ({ caller }): Said => (caller.turn < 4 ? { calls: [['look', {}]] } : 'done') });
    const flow = graph<{ task: string; lead: string }>({ reducers: {} })
      .node('lead', agentNode(agent({ name: 'lead', model: 'own/lead', tools: [look] })))
      .setEntry('lead')
      .compile();
    const { outcome } = await play(flow, { budget: '2-tool-calls' }, own);
    expect([outcome, looked.length]).toEqual(['out_of_budget', 2]);
  });

  it('time in which something runs', async () => {
    const flow = graph<{ task: string; slow: string; one: string }>({ reducers: {} })
      .node('slow', async ({ task: _task }: { task: string }) => {
        await new Promise((done) => setTimeout(done, 60));
        return 'slept';
      })
      .node('one', worker('one'))
      .addEdge('slow', 'one')
      .setEntry('slow')
      .compile();
    const { outcome, asked, error } = await play(flow, { budget: { time: 30 } });
    expect([outcome, asked, error?.details]).toMatchObject(['out_of_budget', 0, { measure: 'time', limit: 30 }]);
    expect(await play(flow, { budget: '1h' })).toMatchObject({ outcome: 'succeeded' });
  });
});

describe('a server that does not keep to what was asked', () => {
  it('bills more than was reserved: it counts, and is taken off what is left', async () => {
    const own = billing({ usage: { inputTokens: 1_000, outputTokens: 900 } });
    const { outcome, error } = await run(chain(), {
      inputs: { task: 'x' },
      models: own.models,
      prices: PRICES,
      budget: '0.011',
    }).result;
    expect([outcome, own.asked.length, error?.message]).toEqual([
      'out_of_budget',
      1,
      'the budget of the run is used up: $0.01 of $0.011 spent; what comes next may take $0.002013',
    ]);
  });

  it('says nothing of tokens: what was reserved counts', async () => {
    const own = billing({ usage: undefined });
    const { outcome } = await run(chain(), {
      inputs: { task: 'x' },
      models: own.models,
      prices: PRICES,
      budget: '0.0045',
    }).result;
    expect([outcome, own.asked.length]).toEqual(['out_of_budget', 2]);
  });
});
