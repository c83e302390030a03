import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryStore } from 'skein';
import { graph, reducers, workflowNode } from 'skein/graph';

interface Inner {
  task: string;
  title: string;
  found: string[];
}
const inner = () =>
  graph<Inner>({ inputs: ['task'], reducers: { found: reducers.extend } })
    .addNode('title', ({ task }) => ({ title: task.toUpperCase(), found: ['inner'] }), { writes: ['title', 'found'] })
    .setEntry('title');

interface Outer {
  task: string;
  heading: string;
  log: string[];
}

test('[XG11] several keys of a workflow are written to keys of the state, through its reducers', async () => {
  const flow = graph<Outer>({ reducers: { log: reducers.extend } })
    .addNode('begin', () => ({ log: ['outer'] }))
    .addNode('sub', workflowNode(inner(), 'sub', { writes: { title: 'heading', found: 'log' } }))
    .addNode('end', ({ heading, log }) => ({ log: [`${heading} ${log.length}`] }))
    .addEdge('begin', 'sub')
    .addEdge('sub', 'end')
    .setEntry('begin');
  const store = memoryStore();
  const { state, runId } = await flow.run({ task: 'looms' }, { store });
  expect(state).toEqual({ task: 'looms', heading: 'LOOMS', log: ['outer', 'inner', 'LOOMS 2'] });
  expect((await flow.run({}, { store, resume: runId })).state).toEqual(state);
});

test('[XG11] of a shared list only what the workflow added is taken in', async () => {
  const talk = graph<{ messages: string[] }>({ inputs: ['messages'], reducers: { messages: reducers.extend } })
    .addNode('reply', ({ messages }) => ({ messages: [`reply to ${messages.at(-1)}`] }))
    .setEntry('reply');
  const flow = graph<{ messages: string[] }>({ reducers: { messages: reducers.extend } })
    .addNode('talk', workflowNode(talk, 'talk', { taskParam: null, writes: { messages: 'messages' } }))
    .setEntry('talk');
  expect((await flow.run({ messages: ['hi'] })).state.messages).toEqual(['hi', 'reply to hi']);
});

test.each([
  ['numbers', { sum: 5 }, 2, { sum: 9 }],
  ['texts', { sum: 'a' }, 'b', { sum: 'abb' }],
])(
  '[XG11] to %s that are added up, a workflow adds what it added, also two side by side',
  async (_, given, more, end) => {
    type Sum = { sum: number | string };
    const part = graph<Sum>({ inputs: ['sum'], reducers: { sum: reducers.add } })
      .addNode('count', () => ({ sum: more }))
      .setEntry('count');
    const node = () => workflowNode(part, 'inner', { taskParam: null, writes: { sum: 'sum' } });
    const flow = graph<Sum>({ reducers: { sum: reducers.add } })
      .addNode('start', () => null, { writes: [] })
      .addNode('a', node())
      .addNode('b', node())
      .addEdge('start', 'a')
      .addEdge('start', 'b')
      .setEntry('start');
    const store = memoryStore();
    const { state, runId } = await flow.run(given, { store });
    expect(state).toEqual(end);
    expect((await flow.run({}, { store, resume: runId })).state).toEqual(end);
  },
);

test('[XG11] a number that a workflow returns, and does not add up, is added', async () => {
  const part = graph<{ sum: number }>({ inputs: ['sum'] })
    .addNode('count', ({ sum }) => ({ sum: sum * 10 }))
    .setEntry('count');
  const flow = graph<{ sum: number }>({ reducers: { sum: reducers.add } })
    .addNode('a', workflowNode(part, 'inner', { taskParam: null, writes: { sum: 'sum' } }))
    .setEntry('a');
  expect((await flow.run({ sum: 5 })).state).toEqual({ sum: 55 });
});

test('[XG11] a list that would be added to itself as one item is a problem', () => {
  const part = graph<{ log: string[] }>({ inputs: ['log'], reducers: { log: reducers.append } })
    .addNode('note', () => ({ log: 'inner' }))
    .setEntry('note');
  const around = (reducer: typeof reducers.append) =>
    graph<{ log: string[] }>({ reducers: { log: reducer } })
      .addNode('a', workflowNode(part, 'inner', { taskParam: null, writes: { log: 'log' } }))
      .setEntry('a');
  expect(() => around(reducers.append).compile()).toThrow(
    /nested-list: the list "log" is given to the workflow in "a"/,
  );
  expect(() => around(reducers.extend).compile()).not.toThrow();
});

test('[XG11] two workflows side by side write a key with a reducer, and without one it is a problem', async () => {
  const of = (reduced: boolean) =>
    graph<{ task: string; log: string[] }>(reduced ? { reducers: { log: reducers.extend } } : (undefined as never))
      .addNode('start', () => null, { writes: [] })
      .addNode('a', workflowNode(inner(), 'a', { writes: { found: 'log' } }))
      .addNode('b', workflowNode(inner(), 'b', { writes: { found: 'log' } }))
      .addEdge('start', 'a')
      .addEdge('start', 'b')
      .setEntry('start');
  expect((await of(true).run({ task: 'x' })).state.log).toEqual(['inner', 'inner']);
  expect(() => of(false).compile()).toThrow(/unordered-writers/);
});

test('[XG11] unknown keys, inside and outside, are found before a run', () => {
  const wrong = graph<{ task: string; heading: string }>()
    .addNode('sub', workflowNode(inner(), 'sub', { writes: { titel: 'heading' } }))
    .setEntry('sub');
  expect(() => wrong.compile()).toThrow(/"titel"[\s\S]*title/);
  const outside = graph({ state: { task: z.string(), heading: z.string() } })
    // @ts-expect-error: no such key of the state
    .addNode('sub', workflowNode(inner(), 'sub', { writes: { title: 'headng' } }))
    .setEntry('sub');
  expect(() => outside.compile()).toThrow(/"headng"[\s\S]*heading/);
  expect(() => workflowNode(inner(), 'sub', { writes: {} })).toThrow(/names no keys/);
  expect(() => workflowNode(inner(), 'sub', { writes: { title: 'x', found: 'x' } })).toThrow(/both written to "x"/);
});

test('[XG11] with an output the answer is there as well', async () => {
  const flow = graph<{ task: string; heading: string; all: unknown }>()
    .addNode('sub', workflowNode(inner(), 'sub', { answerKey: 'found', writes: { title: 'heading' } }), {
      output: 'all',
    })
    .setEntry('sub');
  expect((await flow.run({ task: 'x' })).state).toEqual({ task: 'x', heading: 'X', all: ['inner'] });
});
