import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import type { RunOptions, Store } from 'skein';
import { agent, graph, tool } from 'skein/graph';
import { ownModels, promptOf, resultsIn } from './support-agents.js';

type Step = { readonly runOptions: object; readonly attempt: number };

/** An agent that looks something up, pays if a person allows it, and says what that gave. */
function world() {
  const done: string[] = [];
  const input = { type: 'object', properties: { what: { type: 'string' } } } as const;
  const look = tool({
    name: 'look',
    inputSchema: input,
    trust: 'trusted',
    execute: ({ what }) => done.push(`look ${String(what)}`) && 'seen',
  });
  const pay = tool({
    name: 'pay',
    inputSchema: input,
    effect: 'once',
    approve: true,
    trust: 'trusted',
    execute: ({ what }) => done.push(`pay ${String(what)}`) && `paid ${String(what)}`,
  });
  const { models, requests } = ownModels({
    m: (request) => {
      const [first, second] = resultsIn(request);
      const what = promptOf(request);
      if (first === undefined) return { calls: [['look', { what }]] };
      return second === undefined ? { calls: [['pay', { what }]] } : second;
    },
    plain: (request) => `${promptOf(request)}!`,
  });
  const buyer = agent({ name: 'buyer', model: 'own/m', tools: [look, pay] });
  const plain = agent({ name: 'plain', model: 'own/plain' });
  return { done, models, requests, buyer, plain };
}

function flowOf(run: (step: Step) => Promise<unknown>, options: object = {}) {
  return graph().node('t', async (_state, step) => await run(step), { inputs: [], ...options });
}

async function answered(flow: ReturnType<typeof flowOf>, store: Store, options: Partial<RunOptions>) {
  let result = await flow.run({}, { store, ...options });
  let sessions = 1;
  for (; result.outcome === 'paused'; sessions += 1) {
    for (const { key } of result.questions) answerRun(store, result.runId, { key, value: 'allow' });
    result = await flow.run({}, { store, ...options, resume: result.runId });
  }
  return { ...result, sessions };
}

describe('a run that a step starts', () => {
  it('pauses and goes on where it was: what was paid for before the question is not paid for again', async () => {
    const { buyer, models, done, requests } = world();
    const flow = flowOf(async (step) => {
      const { answer } = await buyer.run('a', step.runOptions);
      return `${answer}, ${(await buyer.run('b', step.runOptions)).answer}`;
    });
    const { state, sessions, spent, saved } = await answered(flow, memoryStore(), { models });
    expect([state['t'], sessions]).toEqual(['paid a, paid b', 3]);
    expect([done, requests.length]).toEqual([['look a', 'pay a', 'look b', 'pay b'], 6]);
    expect([spent.modelCalls, saved.modelCalls]).toEqual([1, 5]);
  });

  it('is found by what it is asked, in whatever order a function starts its runs', async () => {
    const { plain, models, requests } = world();
    const texts = ['one', 'two', 'three', 'four'];
    let order = texts;
    let broken = true;
    const flow = flowOf(async (step) => {
      const said = new Map<string, unknown>();
      for (const text of order) said.set(text, (await plain.run(text, step.runOptions)).answer);
      if (broken) throw new Error('not yet');
      return texts.map((text) => said.get(text));
    });
    const store = memoryStore();
    const first = await flow.run({}, { store, models });
    expect([first.outcome, requests.length]).toEqual(['failed', 4]);
    [order, broken] = [texts.toReversed(), false];
    const second = await flow.run({}, { store, models, resume: first.runId });
    expect([second.state['t'], requests.length]).toEqual([['one!', 'two!', 'three!', 'four!'], 4]);
    expect([second.spent.modelCalls, second.saved.modelCalls]).toEqual([0, 4]);
    const forked = await flow.run({}, { store, models, fork: { run: first.runId } });
    expect([forked.state['t'], requests.length, forked.saved.modelCalls]).toEqual([second.state['t'], 4, 4]);
    const anew = await flow.run({}, { store, models, fork: { run: first.runId, from: 't' } });
    expect([anew.state['t'], requests.length]).toEqual([second.state['t'], 8]);
  });

  it('is made again by another attempt of its step, and twice if it is started twice', async () => {
    const { plain, models, requests } = world();
    const flow = flowOf(
      async (step) => {
        await plain.run('same', step.runOptions);
        await plain.run('same', step.runOptions);
        if (step.attempt === 1) throw new Error('again');
        return requests.length;
      },
      { retry: { retries: 1, delayMs: 1, on: () => true } },
    );
    expect((await flow.run({}, { store: memoryStore(), models })).state['t']).toBe(4);
  });

  it('keeps parts of its functions and nodes that are done once; its other functions run again', async () => {
    const { models } = world();
    const made: string[] = [];
    let broken = true;
    const inner = graph<{ word: string }>()
      .node('plain', ({ word }) => made.push('plain') && `${word}?`)
      .node('part', async ({ plain }, step) => await step.run('part', () => made.push('part') && `${String(plain)}p`))
      .node('once', ({ part }) => made.push('once') && { text: `${String(part)}o`, left: undefined }, {
        effect: 'once',
      })
      .node('look', ({ once }) => Object.keys(once as object).join());
    const flow = flowOf(async (step) => {
      const { look, once } = await inner.runOrThrow({ word: 'a' }, step.runOptions);
      if (broken) throw new Error('not yet');
      return [look, once];
    });
    const store = memoryStore();
    const first = await flow.run({}, { store, models });
    broken = false;
    const { state } = await flow.run({}, { store, models, resume: first.runId });
    expect(state['t']).toEqual(['text', { text: 'a?po' }]);
    expect(made).toEqual(['plain', 'part', 'once', 'plain']);
  });

  it('may hold values that are not JSON', async () => {
    const { models } = world();
    const inner = graph<{ when: Date }>()
      .node('year', ({ when }) => ({ when, of: new Map([['year', when.getUTCFullYear()]]) }))
      .node('out', ({ year }) => (year as { of: Map<string, number> }).of.get('year'));
    const flow = flowOf(async (step) => (await inner.runOrThrow({ when: new Date(0) }, step.runOptions)).out);
    expect((await flow.run({}, { store: memoryStore(), models })).state['t']).toBe(1970);
  });

  it('with a store of its own it is a run of its own', async () => {
    const { plain, models, requests } = world();
    const own = memoryStore();
    let broken = true;
    const flow = flowOf(async (step) => {
      const { answer } = await plain.run('x', { ...step.runOptions, store: own });
      if (broken) throw new Error('not yet');
      return answer;
    });
    const store = memoryStore();
    const first = await flow.run({}, { store, models });
    broken = false;
    const { state } = await flow.run({}, { store, models, resume: first.runId });
    expect([state['t'], requests.length, own.list().length]).toEqual(['x!', 2, 2]);
  });

  it('a budget that is short pauses the run, and more of it lets it go on', async () => {
    const { plain, models, requests } = world();
    const flow = flowOf(async (step) =>
      (await Promise.all(['a', 'b', 'c'].map((text) => plain.run(text, step.runOptions)))).map(({ answer }) => answer),
    );
    const store = memoryStore();
    const first = await flow.run({}, { store, models, budget: { calls: 2, onLimit: 'pause' } });
    expect([first.outcome, requests.length]).toEqual(['out_of_budget', 2]);
    const { state } = await flow.run({}, { store, models, resume: first.runId, budget: { calls: 3 } });
    expect([state['t'], requests.length]).toEqual([['a!', 'b!', 'c!'], 3]);
  });

  it('asks a model again whose call failed, or whose answer was refused, when the run goes on; other calls are kept', async () => {
    const answers = ['fine', new Error('down'), 'no JSON', 'no JSON'];
    const { models, asked } = ownModels({
      m: () => {
        const next = answers.shift();
        if (next instanceof Error) throw next;
        return next ?? '{"sum": 3}';
      },
    });
    const plain = agent({ name: 'plain', model: 'own/m' });
    const adds = agent({
      name: 'adds',
      model: 'own/m',
      output: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
      onInvalid: 'fail',
    });
    const flow = flowOf(async (step) => {
      const first = await plain.run('first', step.runOptions);
      const second = await adds.run('second', step.runOptions);
      if (!second.success) throw new Error(second.error?.code ?? 'failed');
      return `${first.answer} ${second.answer}`;
    });
    const store = memoryStore();
    const first = await flow.run({}, { store, models });
    const second = await flow.run({}, { store, models, resume: first.runId });
    const third = await flow.run({}, { store, models, resume: first.runId });
    const errors = [first, second].map(({ error }) => error?.message);
    expect([errors, third.state['t']]).toEqual([['SKEIN_STEP_FAILED', 'SKEIN_OUTPUT_INVALID'], 'fine {"sum":3}']);
    expect([asked.indexOf('m: first'), asked.lastIndexOf('m: first'), asked.length]).toEqual([0, 0, 5]);
  });

  it('goes on with a script where the session before stopped', async () => {
    const script = { rules: [{ answers: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] }] };
    const plain = agent({ name: 'plain', model: 'own/m' });
    let broken = true;
    const flow = flowOf(async (step) => {
      const said = [(await plain.run('a', step.runOptions)).answer, (await plain.run('b', step.runOptions)).answer];
      if (broken) throw new Error('not yet');
      return [...said, (await plain.run('c', step.runOptions)).answer];
    });
    const store = memoryStore();
    const first = await flow.run({}, { store, models: { env: {}, noProbe: true, script } });
    broken = false;
    const { state } = await flow.run({}, { store, models: { env: {}, noProbe: true, script }, resume: first.runId });
    expect(state['t']).toEqual(['one', 'two', 'three']);
  });

  it('says what helps where a function fails because of what is recorded, and a resume would fail again', async () => {
    const { plain, models, requests } = world();
    const flow = flowOf(async (step) => {
      const { answer } = await plain.run('x', step.runOptions);
      throw new Error(`"${answer}" is not what I need`);
    });
    const store = memoryStore();
    const first = await flow.run({}, { store, models });
    const second = await flow.run({}, { store, models, resume: first.runId });
    const hints = [first, second].map(({ error }) => error?.hint);
    expect(hints).toEqual([undefined, expect.stringContaining('fork the run from this step')]);
    await flow.run({}, { store, models, fork: { run: first.runId, from: 't' } });
    expect(requests.length).toBe(2);
  });
});
