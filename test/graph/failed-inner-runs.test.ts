import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { agent, agentNode, agentTeam, graph } from 'skein/graph';
import { ownModels, promptOf, resultsIn } from './support-agents.js';

type Step = { readonly runOptions: object };

/** Agents whose model is down once, when it is asked about `bad`; all else is answered later. */
function world() {
  let isDown = true;
  const { models, requests } = ownModels({
    m: async (request) => {
      const what = promptOf(request);
      if (what === 'bad' && isDown) {
        isDown = false;
        throw new Error('down');
      }
      await new Promise((next) => setImmediate(next));
      return `${what}!`;
    },
    lead: (request) => {
      const results = resultsIn(request);
      return results.length > 0 ? results.join() : { calls: ['bad', 'good'].map((task) => [`w${task}`, { task }]) };
    },
  });
  return { models, requests, plain: agent({ name: 'plain', model: 'own/m' }) };
}

type World = ReturnType<typeof world>;

const answerOf = async ({ plain }: World, text: string, step: Step): Promise<string> => {
  const { success, answer, error } = await plain.run(text, step.runOptions);
  if (!success) throw new Error(error?.message);
  return answer;
};

/** Runs of a function: of `bad`, and beside it, or after it, of `good`. */
const BESIDE: Readonly<Record<string, (its: World, step: Step) => Promise<string>>> = {
  'runs at once': async (its, step) => {
    const both = await Promise.allSettled(['bad', 'good'].map((text) => answerOf(its, text, step)));
    return both.map((one) => (one.status === 'fulfilled' ? one.value : fail(one.reason))).join();
  },
  'items of a list': async ({ plain }, step) => {
    const each = graph<{ item: string }>()
      .node('said', agentNode(plain, { taskParam: 'item' }))
      .node('out', ({ said }) => said);
    const inner = graph<{ items: string[] }>()
      .map('each', { over: 'items', item: 'item', answerKey: 'out', require: 'all' }, each)
      .node('out', ({ each: all }) => all.join());
    return (await inner.runOrThrow({ items: ['bad', 'good'] }, step.runOptions)).out ?? '';
  },
  'items of a list whose function starts runs': async (its, step) => {
    const inner = graph<{ items: string[] }>()
      .map(
        'each',
        { over: 'items', item: 'item', require: 'all' },
        async ({ item }, one) => await answerOf(its, item, one),
      )
      .node('out', ({ each: all }) => all.join());
    return (await inner.runOrThrow({ items: ['bad', 'good'] }, step.runOptions)).out ?? '';
  },
  'nodes side by side': async ({ plain }, step) => {
    const inner = graph<{ bad: string; good: string }>()
      .node('one', agentNode(plain, { taskParam: 'bad' }), { onError: 'settle' })
      .node('two', agentNode(plain, { taskParam: 'good' }))
      .node('out', ({ one, two }) => [one, two].join());
    return (await inner.runOrThrow({ bad: 'bad', good: 'good' }, step.runOptions)).out ?? '';
  },
};

function fail(reason: unknown): never {
  throw reason;
}

describe.each(Object.entries(BESIDE))('a call that fails in a run that a function started, %s', (_name, start) => {
  it('is made again by a resume, whatever succeeded after it; the others are kept', async () => {
    const its = world();
    const flow = graph().node('t', async (_state, step) => await start(its, step), { inputs: [] });
    const store = memoryStore();
    const first = await flow.run({}, { store, models: its.models });
    expect([first.outcome, its.requests.length]).toEqual(['failed', 2]);
    const { state } = await flow.run({}, { store, models: its.models, resume: first.runId });
    expect([state['t'], its.requests.length]).toEqual(['bad!,good!', 3]);
  });
});

describe('a call that failed in a run that a step started', () => {
  it('is not made again if another attempt of its node took up the failure', async () => {
    const { plain, models, requests } = world();
    let isBroken = true;
    const inner = graph<{ word: string }>().node('said', agentNode(plain, { taskParam: 'word' }), {
      retry: { retries: 1, delayMs: 1, on: () => true },
    });
    const flow = graph().node(
      't',
      async (_state, step) => {
        const { said } = await inner.runOrThrow({ word: 'bad' }, step.runOptions);
        if (isBroken) throw new Error('not yet');
        return said;
      },
      { inputs: [] },
    );
    const store = memoryStore();
    const { runId } = await flow.run({}, { store, models });
    isBroken = false;
    const { state } = await flow.run({}, { store, models, resume: runId });
    expect([state['t'], requests.length]).toEqual(['bad!', 2]);
  });

  it('is what a worker told its lead, which stays as it is', async () => {
    const { plain, models, requests } = world();
    const workers = ['bad', 'good'].map((name) => ({ name: `w${name}`, agent: plain, description: 'Works.' }));
    const team = agentTeam({ supervisor: agent({ name: 'lead', model: 'own/lead' }), workers });
    let isBroken = true;
    const flow = graph<{ task: string }>()
      .node('led', agentNode(team))
      .node('end', ({ led }) => {
        if (isBroken) throw new Error('not yet');
        return led;
      });
    const store = memoryStore();
    const { runId } = await flow.run({ task: 'x' }, { store, models });
    isBroken = false;
    const { state } = await flow.run({}, { store, models, resume: runId });
    expect([state.end, requests.length]).toEqual([expect.stringMatching(/down.*,good!/), 4]);
  });
});
