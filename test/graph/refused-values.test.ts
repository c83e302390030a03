import { expect, it } from 'vitest';
import { z } from 'zod';
import { memoryStore } from '../../src/index.js';
import { END, agentNode, graph, reducers } from '../../src/graph.js';
import type { GraphEvent } from '../../src/graph.js';

type Loose = Record<string, unknown>;

function refuse(): never {
  throw new Error('no room');
}

it('a reducer that refuses the last values fails the run, which has the rest of the state', async () => {
  for (const reducer of ['extend', 'add', refuse] as const) {
    const flow = graph<Loose>({ reducers: { sum: reducer } })
      .addNode('give', () => ({ sum: 5, other: 1 }))
      .setEntry('give');
    const { outcome, error, state } = await flow.run({ sum: reducer === 'extend' ? [] : 'text' });
    expect([outcome, error?.code, state]).toEqual(['failed', 'SKEIN_BAD_UPDATE', { other: 1 }]);
    expect(error?.message).toContain("'sum'");
  }
});

it('a reducer that refuses a value fails a run that its first exit ends, and a workflow inside of a node', async () => {
  const settings = { reducers: { list: reducers.extend }, answerKey: 'list' };
  const first = graph<Loose>({ ...settings, firstExitWins: true })
    .addNode('give', () => ({ list: 5 }))
    .setEntry('give')
    .setExit('give');
  expect((await first.run()).error?.code).toBe('SKEIN_BAD_UPDATE');
  const outer = graph<Loose>().node('part', agentNode(first.asAgent())).setEntry('part');
  const { error } = await outer.run({ task: 'x' });
  expect(error?.message).toContain("the values for 'list' can't be folded");
});

it('a reducer that returns a promise fails the run: its value would not be there', async () => {
  for (const reducer of [
    async (_sum: unknown, more: unknown) => await Promise.resolve(more),
    () => Promise.reject(new Error('late')),
  ]) {
    const flow = graph<Loose>({ reducers: { sum: reducer } })
      .addNode('give', () => ({ sum: 5, other: 1 }))
      .addNode('read', ({ sum }) => ({ seen: sum }))
      .addEdge('give', 'read')
      .setEntry('give');
    for (const options of [{}, { store: memoryStore() }]) {
      const { outcome, error } = await flow.run({}, options);
      expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_BAD_UPDATE']);
      expect(error?.message).toContain('the reducer returned a promise');
    }
  }
});

it('a cancelled run has what can be read of its state', async () => {
  const controller = new AbortController();
  const flow = graph<Loose>({ reducers: { list: 'extend' } })
    .addNode('give', () => ({ list: 5, other: 1 }))
    .addNode('wait', () => {
      controller.abort();
      return new Promise<null>(() => undefined);
    })
    .addEdge('give', 'wait')
    .setEntry('give');
  const { outcome, state } = await flow.run({}, { signal: controller.signal });
  expect([outcome, state]).toEqual(['cancelled', { other: 1 }]);
});

it('[17] with schemas, a contribution is checked as what the reducer makes of it', async () => {
  const state = {
    log: z.array(z.string().trim()),
    total: z.number().max(10),
    both: z.object({ a: z.number(), b: z.number() }),
    few: z.array(z.string()).min(2),
  };
  const flow = graph({
    state,
    reducers: { log: 'append', both: 'mergeDict', few: 'append', total: (sum, more) => Number(sum) + Number(more) },
  })
    .addNode('one', () => ({ log: ' a ', both: { b: 3 }, few: 'y', total: 4 }))
    .addNode('two', () => ({ log: 'b' }))
    .addEdge('one', 'two')
    .setEntry('one');
  const given = { log: ['z'], both: { a: 1, b: 2 }, few: ['w', 'x'], total: 5 };
  expect((await flow.run(given)).state).toEqual({
    log: ['z', 'a', 'b'],
    both: { a: 1, b: 3 },
    few: ['w', 'x', 'y'],
    total: 9,
  });
  const wrong = graph({ state, reducers: { log: 'append' } })
    .addNode('one', () => ({ log: 5 as never }))
    .setEntry('one');
  const { error } = await wrong.run({ log: ['z'] });
  expect([error?.code, error?.message]).toEqual(['SKEIN_BAD_UPDATE', expect.stringContaining("'log'")]);
  const list = graph({ state, reducers: { log: 'append' } })
    .addNode('one', () => ({ log: ['nested'] }))
    .setEntry('one');
  expect((await list.run({ log: ['z'] })).error?.code).toBe('SKEIN_BAD_UPDATE');
});

it('events that are no objects are dropped with a warning', async () => {
  const flow = graph()
    .node(
      'tell',
      (_state, step) => {
        for (const odd of [null, 1, 'text', [], undefined]) step.emit(odd as never);
        return 'told';
      },
      { inputs: [] },
    )
    .setEntry('tell');
  const { events, outcome } = await flow.run();
  expect(outcome).toBe('succeeded');
  expect(events.filter(({ type }) => type === 'warning').map(({ metadata }) => metadata['message'])).toEqual(
    ['null', 'a number', 'a text', 'a list', 'undefined'].map(
      (kind) => `an event was dropped: it is ${kind}, not an object`,
    ),
  );
  const streamed: GraphEvent[] = [];
  for await (const event of flow.stream()) streamed.push(event);
  expect(streamed).toHaveLength(events.length);
});

it('[37] where a router names a node that there is not, none of the others that it names runs', async () => {
  const ran: string[] = [];
  const flow = graph<Loose>()
    .addNode('choose', () => null)
    .addNode('charge', () => {
      ran.push('charge');
    })
    .addConditionalEdge('choose', () => ['charge', 'nobody'])
    .setEntry('choose');
  const { error } = await flow.run();
  expect([error?.code, ran]).toEqual(['SKEIN_BAD_ROUTE', []]);
  const silent = graph<Loose>()
    .addNode('choose', () => null)
    .addConditionalEdge('choose', () => undefined as never)
    .setEntry('choose');
  expect((await silent.run()).error?.message).toBe("the route after 'choose' answered undefined");
});

it('[23] inputs that a record can not hold are told in the result', async () => {
  const flow = graph<{ when: Date }>()
    .node('year', ({ when }) => when.getUTCFullYear())
    .setEntry('year');
  expect((await flow.run({ when: new Date(0) })).state.year).toBe(1970);
  const { outcome, error, events } = await flow.run({ when: new Date(0) }, { store: memoryStore() });
  expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_NOT_JSON']);
  expect(events.map(({ type }) => type)).toEqual(['workflow_start', 'workflow_end']);
});

it('[57] the stream of an agent may come later; what is no stream is said to be none', async () => {
  async function* answers(): AsyncGenerator {
    yield { type: 'answer', answer: 'looms' };
  }
  const run = (): Promise<string> => Promise.reject(new Error('never called'));
  const later = graph<{ task: string }>()
    .node('ask', agentNode({ run, stream: async () => answers() }))
    .setEntry('ask');
  expect((await later.run({ task: 'what' })).state.ask).toBe('looms');
  const none = graph<{ task: string }>()
    .node('ask', agentNode({ run, stream: () => 5 as never }))
    .setEntry('ask');
  expect((await none.run({ task: 'what' })).error?.message).toBe(
    "agentNode('ask'): the agent's stream is a number, not a stream",
  );
});

it('[57] an answer that is told inside of an agent is not its own', async () => {
  async function* answers(): AsyncGenerator {
    yield { type: 'answer', answer: 'own' };
    yield { type: 'answer', source: 'inner', answer: 'of a part' };
  }
  const flow = graph<{ task: string }>()
    .node('ask', agentNode({ run: () => 'never called', stream: answers }))
    .setEntry('ask');
  expect((await flow.run({ task: 'what' })).state.ask).toBe('own');
});

it('[56] the input that takes the task may have any name, also where no node declares it', async () => {
  const inner = graph<Loose>({ answerKey: 'out' })
    .addNode('work', ({ question }) => ({ out: `${String(question)}!` }))
    .setEntry('work');
  const flow = graph<{ task: string }>()
    .node('part', agentNode(inner.asAgent({ taskParam: 'question' })))
    .setEntry('part');
  expect((await flow.run({ task: 'looms' })).state.part).toBe('looms!');
});

it('[54] the figures of the last run stay when the graph is changed', async () => {
  const flow = graph<Loose>()
    .addNode('one', () => null)
    .setEntry('one');
  await flow.run();
  flow.addNode('two', () => null).addEdge('one', 'two');
  flow.compile();
  expect(flow.metrics?.nodeCount).toBe(1);
  await flow.run();
  expect(flow.metrics?.nodeCount).toBe(2);
});

it('[11] an edge to END is refused with the way to say it', () => {
  const flow = graph<Loose>()
    .addNode('one', () => null)
    .addEdge('one', END)
    .setEntry('one');
  expect(() => flow.compile()).toThrow('a node without a way out ends on its own; only a route answers with END');
});
