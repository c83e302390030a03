import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore, readRun } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, graph, tool, toolNode } from 'skein/graph';
import type { ToolDefinition, ToolStep } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';
import type { Said } from './support-agents.js';

const SUM = { type: 'object', properties: { sum: { type: 'number' } } } as const;
const YES_NO = ['yes', 'no'] as const;

interface State {
  customer: string;
  task: string;
}

/** An agent whose first turn makes calls, and whose second repeats their results; with what was paid for. */
function shop(tools: readonly ToolDefinition[], calls: Exclude<Said, string>['calls']) {
  const { models, requests } = ownModels({
    m: (request) => (request.caller.turn === 1 ? { calls } : resultsIn(request).join(' | ')),
  });
  const flow = graph<State>()
    .node('buy', agentNode(agent({ name: 'buyer', model: 'own/m', tools })))
    .setEntry('buy');
  return { flow, models, turns: () => requests.map(({ caller }) => caller.turn) };
}

/** A tool that asks before it pays; `said` is what it did, in order. */
function paying(said: string[], effect: 'read' | 'idempotent' | 'once') {
  return tool({
    name: 'pay',
    inputSchema: SUM,
    effect,
    async execute({ sum }, io: ToolStep<State>) {
      said.push('begins');
      const may = await io.ask({ text: `Pay ${String(sum)} for ${io.state.customer}?`, choices: YES_NO });
      said.push(`paid ${String(sum)}: ${may}`);
      return `paid: ${may}`;
    },
  });
}

describe('[XG10] a tool of an agent that asks', () => {
  it.each(['read', 'idempotent', 'once'] as const)(
    'pauses the run; answered, its call (effect %s) is made again, the model is not asked again',
    async (effect) => {
      const said: string[] = [];
      const store = memoryStore();
      const { flow, models, turns } = shop([paying(said, effect)], [['pay', { sum: 3 }]]);
      const inputs = { customer: 'Ada', task: 'x' };
      const { runId, outcome, questions } = await flow.run(inputs, { store, models });
      expect([outcome, turns()]).toEqual(['paused', [1]]);
      expect(questions).toMatchObject([
        { key: 'buy@tool#1.1.ask:1', path: 'buy', name: '1', question: 'Pay 3 for Ada?', choices: YES_NO },
      ]);
      // A session without an answer asks the same, and only that.
      const again = await flow.run({}, { store, models, resume: runId });
      expect([again.outcome, again.questions]).toEqual(['paused', questions]);
      answerRun(store, runId, { value: 'yes' });
      const done = await flow.run({}, { store, models, resume: runId });
      expect([done.outcome, done.answer, turns()]).toEqual(['succeeded', 'paid: yes', [1, 2]]);
      expect(said).toEqual(['begins', 'begins', 'begins', 'paid 3: yes']);
      const asked = done.events.filter(({ type }) => type === 'question' || type === 'question_answer');
      expect(asked.map(({ type, node }) => [type, node])).toEqual([
        ['question', 'buy'],
        ['question_answer', 'buy'],
      ]);
      const once = await flow.run({}, { store, models, resume: runId });
      expect([once.answer, said.length, turns()]).toEqual(['paid: yes', 4, [1, 2]]);
    },
  );

  it('that may be called once only: nobody is asked what became of a call that stands at its question, after it somebody is', async () => {
    const said: string[] = [];
    const whole = memoryStore();
    const { flow, models } = shop([paying(said, 'once')], [['pay', { sum: 3 }]]);
    const inputs = { customer: 'Ada', task: 'x' };
    const { runId } = await flow.run(inputs, { store: whole, models });
    answerRun(whole, runId, { value: 'yes' });
    await flow.run({}, { store: whole, models, resume: runId });
    const seen = new Set<string>();
    for (const { batches, lines } of prefixesOf(runId, whole.read(runId))) {
      const start = lines.findLastIndex((line) => line.includes('"t":"start"'));
      const asks = lines.findLastIndex((line) => line.includes('"t":"pause"'));
      if (start < 0) continue;
      const store = storeWith(runId, batches, whole);
      const { questions, outcome } = await flow.run({}, { store, models, resume: runId });
      const isAnswered = lines.some((line) => line.includes('"t":"done"') && line.includes('buy@tool#1.1.ask:1'));
      const isDone = lines.some((line) => line.includes('"t":"done"') && line.includes('"buy@tool#1.1"'));
      const keys = questions.map(({ key }) => key);
      if (isDone) expect([outcome, keys]).toEqual(['succeeded', []]);
      // What it did before its question may be what may be done once.
      else if (isAnswered || asks < start) expect([outcome, keys]).toEqual(['paused', ['buy@tool#1.1.outcome']]);
      else expect([outcome, keys]).toEqual(['paused', ['buy@tool#1.1.ask:1']]);
      seen.add(isDone ? 'done' : isAnswered ? 'answered' : asks < start ? 'started' : 'asks');
    }
    expect([...seen]).toEqual(['started', 'asks', 'answered', 'done']);
  });

  it('several times, in order and by name; two calls of one turn ask at the same time', async () => {
    const order = tool({
      name: 'order',
      inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      async execute({ what }, io) {
        const name = String(what);
        const colour = await io.ask({ text: `Colour of ${name}?` });
        const size = await io.ask({ text: `Size of ${name}?`, schema: { type: 'integer' } }, 'size');
        return `${name} ${colour} ${String(size)}`;
      },
    });
    const store = memoryStore();
    const calls = [
      ['order', { what: 'cap' }],
      ['order', { what: 'hat' }],
    ] as const;
    const { flow, models, turns } = shop([order], calls);
    const first = await flow.run({ customer: 'Ada', task: 'x' }, { store, models });
    const resume = { store, models, resume: first.runId };
    expect(first.questions.map(({ key }) => key)).toEqual(['buy@tool#1.1.ask:1', 'buy@tool#1.2.ask:1']);
    answerRun(store, first.runId, { key: 'buy@tool#1.2.ask:1', value: 'red' });
    const second = await flow.run({}, resume);
    expect(second.questions.map(({ key }) => key).toSorted()).toEqual(['buy@tool#1.1.ask:1', 'buy@tool#1.2.ask:size']);
    answerRun(store, first.runId, { key: 'size', value: 5 });
    answerRun(store, first.runId, { key: 'buy@tool#1.1.ask:1', value: 'blue' });
    const third = await flow.run({}, resume);
    expect(third.questions.map(({ key }) => key)).toEqual(['buy@tool#1.1.ask:size']);
    answerRun(store, first.runId, { key: 'size', value: 4 });
    const done = await flow.run({}, resume);
    expect([done.answer, turns()]).toEqual(['cap blue 4 | hat red 5', [1, 2]]);
    expect(readRun(store, first.runId).questions).toEqual([]);
  });

  it('is answered at once by a function, also without a store; its approval is asked first; time with the person is not its time', async () => {
    const said: string[] = [];
    const pay = tool({ ...paying(said, 'once'), approve: true });
    for (const store of [memoryStore(), undefined]) {
      const { flow, models } = shop([pay], [['pay', { sum: 3 }]]);
      const asked: string[] = [];
      const answer = async ({ text }: { readonly text: string }): Promise<unknown> => {
        asked.push(text);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return text.startsWith('May') ? 'allow' : 'no';
      };
      const result = await flow.run(
        { customer: 'Ada', task: 'x' },
        { models, answer, ...(store === undefined ? {} : { store }) },
      );
      expect([result.answer, asked]).toEqual(['paid: no', ['May the agent "buyer" call pay?', 'Pay 3 for Ada?']]);
    }
    expect(said).toEqual(['begins', 'paid 3: no', 'begins', 'paid 3: no']);
  });

  it('without anybody to answer pauses a run without a store, and a run that is cancelled asks no more', async () => {
    const { flow, models } = shop([paying([], 'read')], [['pay', { sum: 3 }]]);
    const inputs = { customer: 'Ada', task: 'x' };
    const { outcome, questions } = await flow.run(inputs, { models });
    expect([outcome, questions.map(({ key }) => key)]).toEqual(['paused', ['buy@tool#1.1.ask:1']]);
    const stop = new AbortController();
    const signals: AbortSignal[] = [];
    const ended = await flow.run(inputs, {
      models,
      signal: stop.signal,
      answer: (_question, _address, signal) => {
        signals.push(signal);
        stop.abort();
        return new Promise(() => undefined);
      },
    });
    expect([ended.outcome, ended.questions, signals.map(({ aborted }) => aborted)]).toEqual(['cancelled', [], [true]]);
  });
});

describe('[XG10] what a tool sees of the state', () => {
  it('is read-only, prints and clones, in a tool of an agent and in a tool as a node', async () => {
    const seen: unknown[] = [];
    const look = tool({
      name: 'look',
      inputSchema: { type: 'object', properties: {} },
      effect: 'read',
      execute: (_, io) => {
        seen.push(structuredClone(io.state));
        try {
          (io.state as Record<string, unknown>)['customer'] = 'Eve';
        } catch (error) {
          seen.push((error as Error).name);
        }
        return 'looked';
      },
    });
    const { models } = ownModels({ m: ({ caller }) => (caller.turn === 1 ? { calls: [['look', {}]] } : 'done') });
    const flow = graph<State>()
      .addNode('buy', agentNode(agent({ name: 'buyer', model: 'own/m', tools: [look] })))
      .addNode('again', toolNode(look))
      .addEdge('buy', 'again')
      .setEntry('buy');
    for (const store of [memoryStore(), undefined]) {
      const result = await flow.run(
        { customer: 'Ada', task: 'x' },
        { models, ...(store === undefined ? {} : { store }) },
      );
      expect(result.error).toBeUndefined();
    }
    const one = [{ customer: 'Ada', task: 'x' }, 'TypeError', { customer: 'Ada', task: 'x', buy: 'done' }, 'TypeError'];
    expect(seen).toEqual([...one, ...one]);
  });

  it('takes part in what makes a recorded result hold: what was read, and nothing else', async () => {
    const ran: string[] = [];
    const greet = tool({
      name: 'greet',
      inputSchema: { type: 'object', properties: {} },
      effect: 'read',
      execute(_, io: ToolStep<State>) {
        ran.push(io.state.customer);
        return `Hello ${io.state.customer}`;
      },
    });
    const { models } = ownModels({
      m: (request) => (request.caller.turn === 1 ? { calls: [['greet', {}]] } : resultsIn(request).join()),
    });
    const flow = graph<State & { other: string; buy: unknown; node: unknown }>()
      .addNode('buy', agentNode(agent({ name: 'buyer', model: 'own/m', tools: [greet] })))
      .addNode('node', toolNode(greet))
      .addEdge('buy', 'node')
      .setEntry('buy');
    const store: Store = memoryStore();
    const { runId } = await flow.run({ customer: 'Ada', task: 'x', other: '1' }, { store, models });
    expect(ran).toEqual(['Ada', 'Ada']);
    const fork = { store, models, fork: { run: runId } };
    await flow.run({ other: '2' }, fork);
    expect(ran).toEqual(['Ada', 'Ada']);
    const { state } = await flow.run({ customer: 'Bob' }, fork);
    expect(ran).toEqual(['Ada', 'Ada', 'Bob', 'Bob']);
    expect([state.buy, state.node]).toEqual(['Hello Bob', 'Hello Bob']);
  });
});

it('[XG10] a tool as a node asks, too: of its effect nothing is lost', async () => {
  const said: string[] = [];
  const store = memoryStore();
  const flow = graph<{ sum: number; customer: string }>()
    .addNode('pay', toolNode(paying(said, 'once')))
    .setEntry('pay');
  const paused = await flow.run({ sum: 3, customer: 'Ada' }, { store });
  expect(paused.questions.map(({ key, question }) => [key, question])).toEqual([['pay@ask:1', 'Pay 3 for Ada?']]);
  answerRun(store, paused.runId, { value: 'yes' });
  const done = await flow.run({}, { store, resume: paused.runId });
  expect([done.answer, said]).toEqual(['paid: yes', ['begins', 'begins', 'paid 3: yes']]);
});
