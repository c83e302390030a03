import { answerRun, memoryStore, readRun } from 'skein';
import { graph, reducers, workflowNode } from 'skein/graph';
import { z } from 'zod';
import type { Behaviour } from './behaviour.js';

export const SUBGRAPHS: readonly Behaviour[] = [
  {
    feature: 'shared keys',
    from: 'pregel.test.ts: a nested graph is invoked',
    what: 'an inner graph reads a key of the state around it, and writes it',
    verdict: { differs: 'the node says which keys it writes; nothing is shared for having the same name' },
    async run() {
      const inner = graph<{ line: string; secret: string }>({ inputs: ['line'] })
        .addNode('more', ({ line }) => ({ line: `${line} there`, secret: 'inside' }))
        .setEntry('more');
      const outer = graph<{ line: string }>()
        .addNode('sub', workflowNode(inner, 'sub', { taskParam: null, writes: { line: 'line' } }))
        .addNode('back', ({ line }) => ({ line: `${line} and back` }))
        .addEdge('sub', 'back')
        .setEntry('sub');
      return (await outer.run({ line: 'from here' })).state;
    },
    gives: { line: 'from here there and back' },
  },
  {
    feature: 'shared keys',
    from: 'pregel.test.ts: an interrupt inside a subgraph, and a list that both have',
    what: 'a list with a reducer that an inner graph was given, made longer and gave back',
    verdict: { differs: 'only what the inner graph added is taken in: nothing stands there twice' },
    async run() {
      interface Shared {
        items: string[];
        note: string;
      }
      const shared = { reducers: { items: reducers.extend } };
      const inner = graph<Shared>({ ...shared, inputs: ['items'] })
        .addNode('ask', async (_state, step) => ({ items: ['inner'], note: await step.ask({ text: 'A note?' }) }))
        .setEntry('ask');
      const outer = graph<Shared>(shared)
        .addNode('one', () => ({ items: ['one'] }))
        .addNode('sub', workflowNode(inner, 'sub', { taskParam: null, writes: { items: 'items', note: 'note' } }))
        .addNode('two', () => ({ items: ['two'] }))
        .addEdge('one', 'sub')
        .addEdge('sub', 'two')
        .setEntry('one');
      const store = memoryStore();
      const { runId } = await outer.run({ items: ['zero'] }, { store });
      answerRun(store, runId, { value: 'fine' });
      return (await outer.run({}, { store, resume: runId })).state;
    },
    gives: { items: ['zero', 'one', 'inner', 'two'], note: 'fine' },
  },
  {
    feature: 'shared keys',
    from: 'pregel.test.ts: three graphs, one in another, with different keys',
    what: 'keys of inner graphs that the outer one does not have stay inside',
    verdict: 'same',
    async run() {
      const third = graph<{ two: number }>().node('three', ({ two }) => two + 1);
      const second = graph<{ one: number }>()
        .node('two', ({ one }) => one + 1)
        .node('deep', workflowNode<number>(third, 'deep', { taskParam: null }))
        .addEdge('two', 'deep');
      const first = graph<{ begin: number }>()
        .node('one', ({ begin }) => begin + 1)
        .node('answer', workflowNode<number>(second, 'answer', { taskParam: null }))
        .addEdge('one', 'answer');
      return (await first.run({ begin: 0 })).state;
    },
    gives: { begin: 0, one: 1, answer: 3 },
  },
  {
    feature: 'shared keys',
    from: 'pregel.test.ts: the state of a nested graph, also with subgraphs: true',
    what: 'what inner steps gave can be looked up from outside',
    verdict: { differs: 'they are steps of the one run: there is no second history to open' },
    async run() {
      const inner = graph<{ task: string }>()
        .node('half', ({ task }) => task.slice(0, 3))
        .node('whole', ({ half }) => `${half}!`);
      const outer = graph<{ task: string }>().node('sub', workflowNode(inner, 'sub'));
      const store = memoryStore();
      const { runId } = await outer.run({ task: 'looms' }, { store });
      const { steps } = readRun(store, runId, { outputs: true });
      return steps.map(({ path, output }) => [path, output]);
    },
    gives: [
      ['sub/half', 'loo'],
      ['sub/whole', 'loo!'],
    ],
  },
  {
    feature: 'shared keys',
    from: 'errors.test.ts: one subgraph in two nodes',
    what: 'the same graph in several nodes of a recorded run',
    verdict: { differs: 'it may be used as often as one likes: steps are known by their path' },
    async run() {
      const inner = graph<{ n: number }>().node('twice', ({ n }) => n * 2);
      const outer = graph<{ n: number }>()
        .node('a', workflowNode<number>(inner, 'a', { taskParam: null }))
        .node('b', workflowNode<number>(inner, 'b', { taskParam: null }))
        .node('both', ({ a, b }) => [a, b]);
      const store = memoryStore();
      const { state, runId } = await outer.run({ n: 4 }, { store });
      return [state.both, readRun(store, runId).steps.map(({ path }) => path)];
    },
    gives: [
      [8, 8],
      ['a/twice', 'b/twice', 'both'],
    ],
  },
  {
    feature: 'private state and output schema',
    from: 'pregel.test.ts: private state that is passed between nodes',
    what: 'a key that one node leaves for the next one, and that the result does not have',
    verdict: 'same',
    async run() {
      const post = graph<{ text: string; stamp: string }, 'text'>({ inputs: ['text'], output: ['text'] })
        .addNode('weigh', ({ text }) => ({ stamp: `${text.length} g` }))
        .addNode('close', ({ text, stamp }) => ({ text: `${text} (${stamp})` }))
        .addEdge('weigh', 'close')
        .setEntry('weigh');
      return (await post.run({ text: 'Hello' })).state;
    },
    gives: { text: 'Hello (5 g)' },
  },
  {
    feature: 'private state and output schema',
    from: 'pregel.test.ts: node schemas with a custom output, the stream',
    what: 'keys that the result does not have, in the stream',
    verdict: 'same',
    async run() {
      const post = graph<{ text: string; stamp: string }, 'text'>({ inputs: ['text'], output: ['text'] })
        .addNode('weigh', ({ text }) => ({ stamp: `${text.length} g` }))
        .setEntry('weigh');
      const { events, state } = await post.run({ text: 'Hi' });
      return [events.find(({ type }) => type === 'node_end')?.metadata['update'], state];
    },
    gives: [{ stamp: '2 g' }, { text: 'Hi' }],
  },
  {
    feature: 'private state and output schema',
    from: 'pregel.test.ts: a Zod schema for the output',
    what: 'what a run gives is what the schemas of its output say',
    verdict: { differs: 'it is checked at the end: a run whose result does not match fails' },
    async run() {
      const scale = graph<{ text: string; grams: number }, 'grams'>({
        inputs: ['text'],
        output: { grams: z.number().max(20) },
      })
        .addNode('weigh', ({ text }) => ({ grams: text.length }))
        .setEntry('weigh');
      const heavy = await scale.run({ text: 'a very long letter indeed' });
      return [(await scale.run({ text: 'short' })).state, heavy.outcome, heavy.error?.code];
    },
    gives: [{ grams: 5 }, 'failed', 'SKEIN_BAD_OUTPUT'],
  },
  {
    feature: 'private state and output schema',
    from: 'pregel.test.ts: a Zod schema with a constraint, and an input that breaks it',
    what: 'an input that does not match its schema is refused before anything runs',
    verdict: 'same',
    async run() {
      let ran = 0;
      const box = graph({ state: { count: z.number().positive(), name: z.string() } })
        .addNode('name', () => {
          ran += 1;
          return { name: 'box' };
        })
        .setEntry('name');
      const { error } = await box.run({ count: -1 });
      return [error?.code, ran, (await box.run({ count: 1 })).state.name];
    },
    gives: ['SKEIN_INPUT', 0, 'box'],
  },
  {
    feature: 'private state and output schema',
    from: 'pregel.test.ts: a Zod schema with a default and a reducer',
    what: 'a default of a schema is what a reducer begins with',
    verdict: 'same',
    async run() {
      const box = graph({
        state: { items: z.array(z.string()).default(['lid']) },
        reducers: { items: (old: string[] = [], more: string[]) => [...old, ...more] },
      })
        .addNode('pack', () => ({ items: ['cup', 'plate'] }))
        .setEntry('pack');
      return (await box.run({})).state.items;
    },
    gives: ['lid', 'cup', 'plate'],
  },
  {
    feature: 'private state and output schema',
    from: 'pregel.test.ts: node schemas with a custom output, and a key that nobody declares',
    what: 'an update with a key that is not declared',
    verdict: { differs: 'with schemas it fails the step: a misspelt key is not dropped in silence' },
    async run() {
      const box = graph({ state: { name: z.string() } })
        .addNode('name', () => ({ nam: 'box' }) as never)
        .setEntry('name');
      return (await box.run({})).error?.code;
    },
    gives: 'SKEIN_BAD_UPDATE',
  },
];
