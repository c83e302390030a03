import { memoryStore } from 'skein';
import { graph, reducers, workflowNode } from 'skein/graph';
import { gate } from '../support.js';
import type { Behaviour } from './behaviour.js';

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Paper {
  topic: string;
  found: string[];
  text: string;
}

/** A question that two archives are searched for; one way there is longer than the other. */
const research = () =>
  graph<Paper>({ reducers: { found: reducers.extend } })
    .addNode('rephrase', ({ topic }) => ({ topic: `about ${topic}` }))
    .addNode('refine', ({ topic }) => ({ topic: `more ${topic}` }))
    .addNode('near', () => ({ found: ['near 1', 'near 2'] }))
    .addNode('far', async () => {
      await after(5);
      return { found: ['far 1'] };
    })
    .addNode('write', ({ found }) => ({ text: found.join(', ') }))
    .addEdge('rephrase', 'refine')
    .addEdge('refine', 'near')
    .addEdge('rephrase', 'far')
    .addEdge('near', 'write')
    .addEdge('far', 'write')
    .setEntry('rephrase');

/** A node that waits until it is told to stop, and one behind it. */
const watch = (seen: string[]) =>
  graph<{ done: string }>()
    .addNode('watch', async (_state, step) => {
      seen.push('watching');
      await new Promise<void>((resolve) => {
        step.signal.addEventListener('abort', () => {
          seen.push('told to stop');
          resolve();
        });
      });
      return { done: 'watched' };
    })
    .addNode('tell', () => {
      seen.push('told');
    })
    .addEdge('watch', 'tell')
    .setEntry('watch');

export const STRUCTURE: readonly Behaviour[] = [
  {
    feature: 'joins and reducers',
    from: 'python_port/graph_structure.test.ts: a fan-out with a waiting edge',
    what: 'a node behind two branches of unlike length runs once, after both',
    verdict: 'same',
    async run() {
      const { state, nodesRun } = await research().run({ topic: 'looms' });
      return [state.text, state.topic, nodesRun.filter((name) => name === 'write').length];
    },
    gives: ['near 1, near 2, far 1', 'more about looms', 1],
  },
  {
    feature: 'joins and reducers',
    from: 'python_port/graph_structure.test.ts: a fan-out with a waiting edge and a regular one',
    what: 'an edge more into a node that waits for others',
    verdict: { differs: 'it waits for that one too, and runs once: nothing runs early on half of what it needs' },
    async run() {
      const { state, nodesRun } = await research().addEdge('rephrase', 'write').run({ topic: 'looms' });
      return [state.text, nodesRun.filter((name) => name === 'write').length];
    },
    gives: ['near 1, near 2, far 1', 1],
  },
  {
    feature: 'joins and reducers',
    from: 'errors.test.ts: two nodes that write one key at once',
    what: 'two parallel nodes write a key without a reducer',
    verdict: 'same',
    async run() {
      const race = graph<{ winner: string }>()
        .addNode('start', () => null)
        .addNode('hare', () => ({ winner: 'hare' }))
        .addNode('tortoise', () => ({ winner: 'tortoise' }))
        .addEdge('start', 'hare')
        .addEdge('start', 'tortoise')
        .setEntry('start');
      const { error } = await race.run();
      return [error?.code, error?.details];
    },
    gives: ['SKEIN_WRITE_CONFLICT', { channel: 'winner', writers: ['hare', 'tortoise'] }],
  },
  {
    feature: 'joins and reducers',
    from: 'errors.test.ts: a node that returns no update',
    what: 'a node that returns a text where an update is due',
    verdict: 'same',
    async run() {
      const odd = graph<{ text: string }>()
        .addNode('say', () => 'hello' as never)
        .setEntry('say');
      return (await odd.run()).error?.code;
    },
    gives: 'SKEIN_BAD_UPDATE',
  },
  {
    feature: 'joins and reducers',
    from: 'pregel.test.ts: undefined values in an update',
    what: 'a node gives undefined for a key with a reducer, and for one without',
    verdict: { differs: 'both keys are cleared: the reducer is not asked, so it needs no case for undefined' },
    async run() {
      const slate = graph<{ sum?: number; word?: string }>({ reducers: { sum: reducers.add } })
        .addNode('fill', () => ({ sum: 4, word: 'four' }))
        .addNode('wipe', () => ({ sum: undefined, word: undefined }))
        .addNode('count', ({ sum }) => ({ word: sum === undefined ? 'nothing' : 'something', sum: 1 }))
        .addEdge('fill', 'wipe')
        .addEdge('wipe', 'count')
        .setEntry('fill');
      return (await slate.run()).state;
    },
    gives: { word: 'nothing', sum: 1 },
  },
  {
    feature: 'joins and reducers',
    from: 'prebuilt/tool_node.test.ts: messages with the same id',
    what: 'a message with the id of an earlier one',
    verdict: { differs: 'no key is a list of messages by itself: a reducer of one line says what an id means' },
    async run() {
      interface Said {
        id: string;
        text: string;
      }
      const chat = graph<{ said: Said[] }>({
        reducers: {
          said: (old: Said[] = [], more: Said[]) => [
            ...new Map([...old, ...more].map((one) => [one.id, one])).values(),
          ],
        },
      })
        .addNode('draft', () => ({ said: [{ id: 'm1', text: 'helo' }] }))
        .addNode('mend', () => ({
          said: [
            { id: 'm1', text: 'hello' },
            { id: 'm2', text: 'bye' },
          ],
        }))
        .addEdge('draft', 'mend')
        .setEntry('draft');
      return (await chat.run()).state.said?.map(({ text }) => text);
    },
    gives: ['hello', 'bye'],
  },
  {
    feature: 'cancellation',
    from: 'pregel/pregel.cancellation.test.ts: an external signal',
    what: 'a signal from outside reaches the node that runs, and what follows it does not run',
    verdict: { differs: 'the run ends with the outcome `cancelled`, and throws nothing' },
    async run() {
      const seen: string[] = [];
      const controller = new AbortController();
      const running = watch(seen).run({}, { signal: controller.signal });
      while (seen.length === 0) await after(1);
      controller.abort();
      const { outcome } = await running;
      return [outcome, seen];
    },
    gives: ['cancelled', ['watching', 'told to stop']],
  },
  {
    feature: 'cancellation',
    from: 'pregel/pregel.cancellation.test.ts: an external signal, with a subgraph as a node',
    what: 'a signal from outside reaches a node of an inner graph',
    verdict: 'same',
    async run() {
      const seen: string[] = [];
      const controller = new AbortController();
      const outer = graph<{ task: string }>().node('sub', workflowNode(watch(seen), 'sub'));
      const running = outer.run({}, { signal: controller.signal });
      while (seen.length === 0) await after(1);
      controller.abort();
      const { outcome } = await running;
      return [outcome, seen];
    },
    gives: ['cancelled', ['watching', 'told to stop']],
  },
  {
    feature: 'cancellation',
    from: 'python_port/interrupt.test.ts: a node is cancelled when another one throws',
    what: 'a failure stops what runs beside it',
    verdict: 'same',
    async run() {
      const { opened, open } = gate();
      const seen: string[] = [];
      const pair = graph<{ done: string }>()
        .addNode('begin', () => null)
        .addNode('long', async (_state, step) => {
          step.signal.addEventListener('abort', () => seen.push('stopped'));
          open();
          await new Promise(() => undefined);
        })
        .addNode('bad', async () => {
          await opened;
          throw new Error('no power');
        })
        .addEdge('begin', 'long')
        .addEdge('begin', 'bad')
        .setEntry('begin');
      const { outcome, error } = await pair.run();
      return [outcome, error?.message, seen];
    },
    gives: ['failed', 'no power', ['stopped']],
  },
  {
    feature: 'cancellation',
    from: 'python_port/interrupt.test.ts: a stream that is cancelled',
    what: 'a loop over the events that is left stops the run; what had ended is kept, and a resume goes on from there',
    verdict: 'same',
    async run() {
      const seen: string[] = [];
      let calm = false;
      const pair = graph<{ sum: number }>({ reducers: { sum: reducers.add } })
        .addNode('quick', () => {
          seen.push('quick');
          return { sum: 10 };
        })
        .addNode('slow', async () => {
          seen.push('slow');
          if (!calm) await new Promise(() => undefined);
          return { sum: 5 };
        })
        .addEdge('quick', 'slow')
        .setEntry('quick');
      const store = memoryStore();
      for await (const { type, node } of pair.stream({ sum: 1 }, { store, runId: 'walk' }))
        if (type === 'node_start' && node === 'slow') break;
      calm = true;
      const { state } = await pair.run({}, { store, resume: 'walk' });
      return [state.sum, seen];
    },
    gives: [16, ['quick', 'slow', 'slow']],
  },
  {
    feature: 'cancellation',
    from: 'timeout.test.ts: a node that takes longer than its timeout',
    what: 'a node that takes too long is told to stop, and the run fails',
    verdict: 'same',
    async run() {
      const seen: string[] = [];
      const slow = graph<{ done: string }>()
        .addNode(
          'slow',
          async (_state, step) => {
            step.signal.addEventListener('abort', () => seen.push('stopped'));
            await new Promise(() => undefined);
          },
          { timeoutMs: 5 },
        )
        .setEntry('slow');
      const { outcome, error } = await slow.run();
      return [outcome, error?.code, seen];
    },
    gives: ['failed', 'SKEIN_TIMEOUT', ['stopped']],
  },
  {
    feature: 'cancellation',
    from: 'run_control.test.ts: a drain that leaves a checkpoint to resume from',
    what: 'a run that is stopped from outside goes on later with what it had',
    verdict: { differs: 'nothing waits for the node that runs: it is stopped, and runs again on the resume' },
    async run() {
      const controller = new AbortController();
      const store = memoryStore();
      const pair = graph<{ first: string; second: string }>()
        .addNode('a', () => {
          controller.abort();
          return { first: 'done' };
        })
        .addNode('b', () => ({ second: 'done' }))
        .addEdge('a', 'b')
        .setEntry('a');
      const { runId, outcome } = await pair.run({}, { store, signal: controller.signal });
      return [outcome, (await pair.run({}, { store, resume: runId })).state];
    },
    gives: ['cancelled', { first: 'done', second: 'done' }],
  },
];
