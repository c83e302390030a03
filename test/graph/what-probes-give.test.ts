import { expect, test } from 'vitest';
import { memoryStore, run, type Store } from 'skein';
import { agent, agentNode, agentTeam, goto, graph, tool } from 'skein/graph';
import { packComposition } from '../../src/notations/machine/compositions/pack-composition.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';

const INPUT = { type: 'object', properties: { n: { type: 'number' } } } as const;

/** What a process left that died right after the start of the effect with this part in its key, or of the nth of them. */
function diedAt(store: Store, part: string, nth = 1): Store {
  const isStart = (line: string): boolean => line.includes('"t":"start"') && line.includes(part);
  const cut = prefixesOf('r', store.read('r')).find(({ lines }) => lines.filter(isStart).length === nth);
  if (cut === undefined) throw new Error(`no start of ${part}`);
  return storeWith('r', cut.batches, store);
}

test('[J6] what a probe returns takes the place of a jump', async () => {
  const flow = graph<{ how?: string }>()
    .addNode('pay', () => goto('late', { how: 'made' }), {
      effect: 'once',
      goto: ['late', 'soon'],
      probe: () => ({ done: true, result: goto('soon', { how: 'found' }) }),
    })
    .addNode('late', ({ how }) => ({ how: `${String(how)} late` }))
    .addNode('soon', ({ how }) => ({ how: `${String(how)} soon` }))
    .setEntry('pay');
  const store = memoryStore();
  expect((await flow.run({}, { store, runId: 'r' })).state.how).toBe('made late');
  expect((await flow.run({}, { store: diedAt(store, 'pay'), resume: 'r' })).state.how).toBe('found soon');
});

test('[J2] [J6] what a probe returns is an update, which holds for the state that the call saw', async () => {
  let paid = 0;
  const flow = graph<{ how?: string; keep?: string }>()
    .addNode('pay', () => ({ how: `made ${(paid += 1)}` }), {
      effect: 'once',
      probe: ({ keep }) => ({ done: true, result: { how: `found ${String(keep)}`, keep: undefined } }),
    })
    .setEntry('pay');
  const whole = memoryStore();
  await flow.run({ keep: 'k' }, { store: whole, runId: 'r' });
  const store = diedAt(whole, 'pay');
  for (let session = 1; session <= 2; session++)
    expect((await flow.run({}, { store, resume: 'r' })).state).toEqual({ how: 'found k' });
  expect((await flow.run({ keep: 'k' }, { store, fork: { run: 'r' } })).state).toEqual({ how: 'found k' });
  expect((await flow.run({ keep: 'z' }, { store, fork: { run: 'r' } })).state).toEqual({ how: 'made 2', keep: 'z' });
});

test('[J6] each of several lost calls of a turn has its own answer, also from a method of a class', async () => {
  const paid: number[] = [];
  class Pay {
    readonly name = 'pay';
    readonly inputSchema = INPUT;
    readonly trust = 'trusted';
    execute({ n }: { readonly n: number }): string {
      paid.push(n);
      return `made ${n}`;
    }
    probe({ n }: { readonly n: number }) {
      return n === 1 ? { done: true as const, result: `found ${n}` } : { done: false as const };
    }
  }
  const { models } = ownModels({
    m: (request) => {
      const results = resultsIn(request);
      return results.length > 0 ? results.join() : { calls: [1, 2].map((n) => ['pay', { n }]) };
    },
  });
  const flow = graph<{ task: string }>()
    .node('a', agentNode(agent({ name: 'x', model: 'own/m', tools: [new Pay() as never] }), { taskParam: 'task' }))
    .setEntry('a');
  const store = memoryStore();
  expect((await flow.run({ task: 'Pay.' }, { store, runId: 'r', models })).state.a).toBe('made 1,made 2');
  paid.length = 0;
  const { state } = await flow.run({}, { store: diedAt(store, '@tool#', 2), resume: 'r', models });
  expect([state.a, paid]).toEqual(['found 1,made 2', [2]]);
});

test.each([{}, { budget: '9-tool-calls' }])('[J6] the probe of a tool is asked in a team, too: %o', async (limits) => {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    inputSchema: INPUT,
    trust: 'trusted',
    execute: () => `made ${paid.push('pay')}`,
    probe: () => ({ done: true, result: 'found' }),
  });
  const { models } = ownModels({
    m: (request) => (resultsIn(request).length > 0 ? resultsIn(request).join() : { calls: [['pay', { n: 1 }]] }),
    lead: (request) =>
      resultsIn(request).length > 0 ? resultsIn(request).join() : { calls: [['worker', { task: 'Pay.' }]] },
  });
  const team = agentTeam({
    supervisor: agent({ name: 'lead', model: 'own/lead' }),
    workers: [{ name: 'worker', description: 'Pays.', agent: agent({ name: 'payer', model: 'own/m', tools: [pay] }) }],
  });
  const flow = graph<{ task: string }>(limits)
    .node('a', agentNode(team, { taskParam: 'task' }))
    .setEntry('a');
  const store = memoryStore();
  expect((await flow.run({ task: 'Pay.' }, { store, runId: 'r', models })).state.a).toBe('made 1');
  const { state } = await flow.run({}, { store: diedAt(store, ' tool#1.1'), resume: 'r', models });
  expect([state.a, paid.length]).toEqual(['found', 1]);
});

test('[J6] the probe of a tool is asked for a step of a composition of a pack', async () => {
  const paid: string[] = [];
  const pack = {
    id: 'paying',
    name: 'Paying',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: {},
    tools: { pay: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: {} } } },
    compositions: {
      c: { version: 1, steps: [{ id: 'paid', kind: 'tool', tool: 'pay', args: { to: '${input.text}' } }] },
    },
  };
  const pay = tool({
    name: 'pay',
    inputSchema: { type: 'object' },
    trust: 'trusted',
    execute: ({ to }) => `made ${String(to)} ${paid.push('pay')}`,
    probe: ({ to }) => ({ done: true, result: `found ${String(to)}` }),
  });
  const plan = packComposition(pack, 'c', { tools: { pay } });
  const store = memoryStore();
  const inputs = { input: { text: 'Ada' }, variables: {} };
  expect((await run(plan, { inputs, store, runId: 'r' }).result).state['output']).toBe('made Ada 1');
  const { state } = await run(plan, { store: diedAt(store, 'paid'), resume: 'r' }).result;
  expect([state['output'], paid.length]).toEqual(['found Ada', 1]);
});
