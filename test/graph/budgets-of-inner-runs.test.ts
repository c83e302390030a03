import { describe, expect, it } from 'vitest';
import { memoryStore, readBudget } from 'skein';
import type { RunOptions, Store } from 'skein';
import { agent, agentAsTool, agentNode, graph, tool } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';

const TASK = { type: 'object', properties: { task: { type: 'string' } } } as const;

function world() {
  const { models, requests } = ownModels({
    m: (request) => {
      const results = resultsIn(request);
      const [first] = request.tools;
      return first === undefined || results.length > 1 ? results.join() : { calls: [[first.name, { task: 'it' }]] };
    },
  });
  const look = tool({ name: 'look', inputSchema: TASK, effect: 'idempotent', trust: 'trusted', execute: () => 'seen' });
  const looker = agent({ name: 'looker', model: 'own/m', tools: [look] });
  return { models, requests, looker };
}

function flowOf(start: (step: { readonly runOptions: object }) => Promise<unknown>) {
  return graph<{ task: string }>().node('t', async (_state, step) => await start(step), { inputs: [] });
}

/** Three calls of a model and two of a tool, each. */
const STARTS = {
  'a function': ({ looker }: ReturnType<typeof world>) =>
    flowOf(async (step) => (await looker.run('x', step.runOptions)).answer),
  'a function of a run in a function': ({ looker }: ReturnType<typeof world>) => {
    const inner = flowOf(async (step) => (await looker.run('x', step.runOptions)).answer);
    return flowOf(async (step) => (await inner.runOrThrow({ task: 'x' }, step.runOptions)).t);
  },
};

function sumsOf(store: Store) {
  return Object.fromEntries(readBudget(store, 'one').map(({ measure, spent }) => [measure, spent]));
}

const LIMITS: readonly (readonly [string, RunOptions['budget']])[] = [
  ['no limit', undefined],
  ['a limit of model calls', { calls: 100 }],
  ['a limit of both', { calls: 100, toolCalls: 100 }],
];

describe.each(Object.entries(STARTS))('the budget of a run whose step starts runs: %s', (_name, start) => {
  it.each(LIMITS)('counts the calls of sessions before, which had %s, once each', async (_limit, before) => {
    const its = world();
    let broken = true;
    const flow = start(its).node('end', ({ t }) => {
      if (broken) throw new Error('not yet');
      return t;
    });
    const store = memoryStore();
    const first = { store, models: its.models, runId: 'one', ...(before && { budget: before }) };
    expect((await flow.run({ task: 'x' }, first)).outcome).toBe('failed');
    broken = false;
    const again = { store, models: its.models, resume: 'one', budget: { calls: 100, toolCalls: 100 } };
    expect((await flow.run({ task: 'x' }, again)).outcome).toBe('succeeded');
    expect([sumsOf(store), its.requests.length]).toEqual([{ calls: 3, toolCalls: 2 }, 3]);
  });
});

it('the budget of a run counts the calls of an agent that is a tool, of sessions that had none', async () => {
  const { models, looker } = world();
  const asTool = agentAsTool(looker, { name: 'looker', description: 'Looks.' });
  const lead = agent({ name: 'lead', model: 'own/m', tools: [asTool] });
  let broken = true;
  const flow = graph<{ task: string }>()
    .node('t', agentNode(lead))
    .node('end', ({ t }) => {
      if (broken) throw new Error('not yet');
      return t;
    });
  const store = memoryStore();
  await flow.run({ task: 'x' }, { store, models, runId: 'one' });
  broken = false;
  await flow.run({}, { store, models, resume: 'one', budget: { calls: 100, toolCalls: 100 } });
  expect(sumsOf(store)).toEqual({ calls: 9, toolCalls: 6 });
});

it.each(['calls', 'toolCalls'] as const)(
  'a run that a step starts, killed and started again, spends no more %s than its own budget allows',
  async (measure) => {
    const budget = { [measure]: measure === 'calls' ? 2 : 1 };
    const flowIn = ({ looker }: ReturnType<typeof world>) => {
      const between = flowOf(async (step) => (await looker.run('x', step.runOptions)).outcome);
      return flowOf(async (step) => [
        (await looker.run('x', { ...step.runOptions, budget })).outcome,
        (await between.run({ task: 'x' }, { ...step.runOptions, budget })).outcome,
      ]);
    };
    const whole = world();
    const store = memoryStore();
    const { state } = await flowIn(whole).run({ task: 'x' }, { store, models: whole.models, runId: 'one' });
    expect(state.t).toEqual(['out_of_budget', 'out_of_budget']);
    for (const { name, batches, lines } of prefixesOf('one', store.read('one'))) {
      const next = world();
      const again = { store: storeWith('one', batches, store), models: next.models, resume: 'one' };
      const { state: after } = await flowIn(next).run({}, again);
      const made = lines.filter((line) => /"t":"done".*model#\d/.test(line)).length;
      expect([name, after.t, next.requests.length]).toEqual([name, state.t, whole.requests.length - made]);
    }
  },
);
