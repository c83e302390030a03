import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStore } from 'skein';
import type { RunOptions, Store } from 'skein';
import { agent, agentAsTool, agentNode, graph, tool } from 'skein/graph';
import { systemClock } from '../../src/base/clock.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';

/** The timeout of every step, in milliseconds. */
const timeoutMs = 54_321;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Timeouts pass while a person thinks: those that are set by then ring. */
function patientPerson() {
  const set = new Set<() => void>();
  const real = { ...systemClock };
  vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, ring) => {
    if (ms > timeoutMs || ms < timeoutMs / 2) return real.setTimer(ms, ring);
    set.add(ring);
    return () => set.delete(ring);
  });
  const asked: string[] = [];
  const answer: RunOptions['answer'] = async ({ text }, address) => {
    asked.push(`${address} ${text.includes('once only')}`);
    // Timers are set once nothing else is left to do.
    await new Promise((next) => setImmediate(next));
    for (const ring of set) ring();
    await new Promise((next) => setImmediate(next));
    return 'run it';
  };
  return { answer, asked, count: () => set.size };
}

/** One process: something pays in a step that may take only so long. */
function processOf(nodeOf: (its: ReturnType<typeof worldOf>) => ReturnType<typeof flowOf>) {
  const its = worldOf();
  const flow = nodeOf(its);
  const session = (store: Store, options: Partial<RunOptions>) =>
    flow.run({ task: 'Pay.' }, { store, models: its.models, ...options });
  return { session, paid: its.paid };
}

function worldOf() {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    inputSchema: { type: 'object', properties: { task: { type: 'string' } } },
    effect: 'once',
    trust: 'trusted',
    execute: () => `paid ${paid.push('pay')}`,
  });
  const { models } = ownModels({
    m: (request) => {
      const results = resultsIn(request);
      const [first] = request.tools;
      return results.length > 0 ? results.join() : { calls: [[String(first?.name), { task: 'Pay.' }]] };
    },
  });
  return { paid, models, payer: agent({ name: 'payer', model: 'own/m', tools: [pay] }) };
}

function flowOf(start: (step: { readonly runOptions: object }) => unknown, options: object = {}) {
  return graph<{ task: string }>().node('t', async (_state, step) => await start(step), {
    inputs: [],
    timeoutMs,
    ...options,
  });
}

const PAYING = {
  'a function': ({ paid }: ReturnType<typeof worldOf>) => flowOf(() => `paid ${paid.push('pay')}`, { effect: 'once' }),
  'a call of an agent': ({ payer }: ReturnType<typeof worldOf>) =>
    graph<{ task: string }>().node('t', agentNode(payer, { taskParam: 'task' }), {
      timeoutMs,
    }) as unknown as ReturnType<typeof flowOf>,
  'a call in a run that a function started': ({ payer }: ReturnType<typeof worldOf>) =>
    flowOf(async (step) => (await payer.run('Pay.', step.runOptions)).answer),
  'a function in a run that a function started': ({ paid }: ReturnType<typeof worldOf>) => {
    const inner = flowOf(() => `paid ${paid.push('pay')}`, { effect: 'once' });
    const between = flowOf(async (step) => (await inner.runOrThrow({ task: 'x' }, step.runOptions))['t']);
    return flowOf(async (step) => (await between.runOrThrow({ task: 'x' }, step.runOptions))['t']);
  },
  'a call of an agent that is a tool': ({ payer }: ReturnType<typeof worldOf>) => {
    const asTool = agentAsTool(payer, { name: 'payer', description: 'Pays.' });
    const lead = agent({ name: 'lead', model: 'own/m', tools: [asTool] });
    return graph<{ task: string }>().node('t', agentNode(lead, { taskParam: 'task' }), {
      timeoutMs,
    }) as unknown as ReturnType<typeof flowOf>;
  },
};

describe.each(Object.entries(PAYING))('%s that was cut off', (_name, nodeOf) => {
  it('may take its time once a person has said what became of it', async () => {
    const whole = memoryStore();
    await processOf(nodeOf).session(whole, { runId: 'one' });
    const asked: string[] = [];
    for (const { name, batches, lines } of prefixesOf('one', whole.read('one'))) {
      if (lines.at(-1)?.includes('"t":"start"') !== true) continue;
      const person = patientPerson();
      const next = processOf(nodeOf);
      const again = { resume: 'one', answer: person.answer };
      const { outcome, state } = await next.session(storeWith('one', batches, whole), again);
      expect([name, outcome, state['t'], next.paid]).toEqual([name, 'succeeded', 'paid 1', ['pay']]);
      asked.push(...person.asked);
      vi.restoreAllMocks();
    }
    expect([...new Set(asked)]).toEqual([expect.stringMatching(/ true$/)]);
  });
});
