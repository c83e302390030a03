import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import type { RunOptions, Store } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { ownModels, promptOf, resultsIn } from './support-agents.js';

interface Step {
  readonly runOptions: object;
  run<T>(name: string, part: () => T): Promise<Awaited<T>>;
  ask(question: { readonly text: string }): Promise<string>;
}

const WHAT = { type: 'object', properties: { what: { type: 'string' } } } as const;

/** An agent that pays, after a person has allowed it, and what was paid. `before` a model answers. */
function world(before: (what: string) => Promise<void> = () => Promise.resolve(), approve = false) {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    inputSchema: WHAT,
    effect: 'once',
    approve,
    trust: 'trusted',
    execute: async ({ what }) => {
      await new Promise((next) => setImmediate(next));
      return `paid ${String(what)} as ${paid.push(String(what))}`;
    },
  });
  const { models, requests } = ownModels({
    m: async (request) => {
      const [result] = resultsIn(request);
      const what = promptOf(request);
      await before(what);
      return result ?? { calls: [['pay', { what }]] };
    },
    plain: async (request) => {
      await before(promptOf(request));
      return `${promptOf(request)}!`;
    },
  });
  const payer = agent({ name: 'payer', model: 'own/m', tools: [pay] });
  const plain = agent({ name: 'plain', model: 'own/plain' });
  return { paid, models, requests, payer, plain };
}

function flowOf(run: (step: Step) => Promise<unknown>) {
  return graph().node('t', async (_state, step) => await run(step), { inputs: [] });
}

/** Goes on until the run waits for nothing, with one answer for each session. Returns the questions in the order of the answers, too. */
async function answered(flow: ReturnType<typeof flowOf>, store: Store, options: Partial<RunOptions>, runId: string) {
  const asked: string[] = [];
  for (;;) {
    const result = await flow.run({}, { store, ...options, resume: runId });
    const question = result.questions.at(-1);
    if (question === undefined) return { ...result, asked };
    asked.push(question.key);
    answerRun(store, runId, { key: question.key, value: question.choices?.[0] ?? question.key });
  }
}

describe('a run that a step starts, beside others', () => {
  it('is another one than an equal run in a part of the step, also if the part is taken from the record', async () => {
    const { payer, models, paid } = world();
    let broken = true;
    const flow = flowOf(async (step) => {
      const first = await step.run('first', async () => (await payer.run('x', step.runOptions)).answer);
      if (broken) throw new Error('not yet');
      return [first, (await payer.run('x', step.runOptions)).answer];
    });
    const store = memoryStore();
    const { runId } = await flow.run({}, { store, models });
    broken = false;
    const { state } = await flow.run({}, { store, models, resume: runId });
    expect([state['t'], paid]).toEqual([
      ['paid x as 1', 'paid x as 2'],
      ['x', 'x'],
    ]);
  });

  it('gets its own answers, whichever run asks first in a session', async () => {
    let late: (() => void) | undefined;
    const { plain, models } = world(async (what) => {
      if (what === 'a') await new Promise<void>((next) => (late = next));
    });
    const asking = graph<{ word: string }>()
      .node('said', agentNode(plain, { taskParam: 'word' }))
      .node('may', async ({ said }, step) => {
        const answer = step.ask({ text: 'Publish?' });
        if (said === 'b!') late?.();
        return `${said} ${await answer}`;
      });
    const flow = flowOf(
      async (step) =>
        await Promise.all(
          ['a', 'b'].map(async (word) => (await asking.runOrThrow({ word }, step.runOptions)).may ?? ''),
        ),
    );
    const store = memoryStore();
    const first = await flow.run({}, { store, models });
    const [ofB, ofA] = first.questions.map(({ key }) => key);
    for (const key of [ofA, ofB])
      answerRun(store, first.runId, { key: String(key), value: key === ofA ? 'yes' : 'no' });
    const { state, questions } = await flow.run({}, { store, models, resume: first.runId });
    expect([state['t'], questions]).toEqual([['a! yes', 'b! no'], []]);
  });

  it('waits with the questions of its parts and of runs inside it: none is left out, and no call is cut off', async () => {
    const { payer, models, paid } = world(undefined, true);
    const both = graph<{ word: string }>().node('both', async ({ word }, step) =>
      (
        await Promise.all([
          step.ask({ text: 'Sure?' }),
          step.run('part', async () => (await payer.run(`${word} in part`, step.runOptions)).answer),
          payer.run(`${word} beside`, step.runOptions).then(({ answer }) => answer),
        ])
      ).slice(1),
    );
    const flow = flowOf(async (step) => (await both.runOrThrow({ word: 'a' }, step.runOptions)).both);
    const store = memoryStore();
    const { runId, questions } = await flow.run({}, { store, models });
    expect(questions.length).toBe(3);
    const { outcome, asked } = await answered(flow, store, { models }, runId);
    expect([outcome, asked.length, paid.toSorted()]).toEqual(['succeeded', 3, ['a beside', 'a in part']]);
  });

  it.each(['pause', 'stop'] as const)(
    'that comes to a limit of its own (%s) gives what it would if the question beside had been answered at once',
    async (onLimit) => {
      const { payer, models, paid } = world();
      const inner = graph<{ word: string }>()
        .node('sure', async (_state, step) => await step.ask({ text: 'Sure?' }), { inputs: [] })
        .node('said', agentNode(payer, { taskParam: 'word' }));
      const flow = flowOf(async (step) => {
        const budget = { calls: 1, onLimit };
        const { outcome, state } = await inner.run({ word: 'x' }, { ...step.runOptions, budget });
        return [outcome, String(state.sure)];
      });
      const store = memoryStore();
      const first = await flow.run({}, { store, models });
      expect(first.outcome).toBe(onLimit === 'pause' ? 'paused' : 'succeeded');
      const { state } = await answered(flow, store, { models }, first.runId);
      const key = String(first.questions[0]?.key);
      expect([state['t'], paid]).toEqual([['out_of_budget', onLimit === 'pause' ? key : 'undefined'], ['x']]);
    },
  );

  it('leaves a part undone that a budget was short for', async () => {
    const { plain, models, requests } = world();
    const flow = flowOf(async (step) => [
      (await plain.run('a', step.runOptions)).answer,
      await step.run('part', async () => (await plain.run('b', step.runOptions)).answer),
    ]);
    const inner = flowOf(async (step) => [
      (await plain.run('c', step.runOptions)).answer,
      await step.run('part', async () => (await plain.run('d', step.runOptions)).answer),
    ]);
    const around = flowOf(async (step) => (await inner.run({}, step.runOptions)).state['t']);
    for (const each of [flow, around]) {
      const store = memoryStore();
      const first = await each.run({}, { store, models, budget: { calls: 1, onLimit: 'pause' } });
      expect(first.outcome).toBe('out_of_budget');
      const { state } = await each.run({}, { store, models, resume: first.runId, budget: { calls: 2 } });
      expect(state['t']).toEqual(each === flow ? ['a!', 'b!'] : ['c!', 'd!']);
    }
    expect(requests.length).toBe(4);
  });
});
