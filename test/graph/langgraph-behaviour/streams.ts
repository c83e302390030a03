import { agent, agentNode, END, graph, reducers, workflowNode } from 'skein/graph';
import type { GraphEvent } from 'skein/graph';
import { ownModels } from '../support-agents.js';
import { collect, gate } from '../support.js';
import type { Behaviour } from './behaviour.js';

const counter = () =>
  graph<{ n: number }>({ reducers: { n: reducers.add } })
    .addNode('up', () => ({ n: 2 }))
    .addConditionalEdge('up', ({ n }) => (n < 7 ? 'up' : END))
    .setEntry('up');

const ofType = (events: readonly GraphEvent[], type: string): GraphEvent[] =>
  events.filter((event) => event.type === type);

export const STREAMS: readonly Behaviour[] = [
  {
    feature: 'stream modes',
    from: 'pregel.test.ts: several stream modes, the updates',
    what: 'what each node gave, as it ends',
    verdict: { differs: 'one stream of typed events, from which a program takes what it wants: `node_end`' },
    async run() {
      const events = await collect(counter().stream({ n: 1 }));
      return ofType(events, 'node_end').map(({ node, path, metadata }) => [node, path, metadata['update']]);
    },
    gives: [
      ['up', 'up', { n: 2 }],
      ['up', 'up#2', { n: 2 }],
      ['up', 'up#3', { n: 2 }],
    ],
  },
  {
    feature: 'stream modes',
    from: 'pregel.test.ts: several stream modes, the values',
    what: 'the whole state after each node',
    verdict: 'same',
    async run() {
      const events = await collect(counter().stream({ n: 1 }, { streamState: true }));
      return ofType(events, 'state').map(({ metadata }) => metadata['state']);
    },
    gives: [{ n: 3 }, { n: 5 }, { n: 7 }],
  },
  {
    feature: 'stream modes',
    from: 'pregel.test.ts: several stream modes at once',
    what: 'updates and values in one stream, in the order in which they happen',
    verdict: { differs: 'no second stream and no tuples: two types of events' },
    async run() {
      const told: unknown[] = [];
      for await (const { type, metadata } of counter().stream({ n: 4 }, { streamState: true })) {
        if (type === 'node_end') told.push(metadata['update']);
        if (type === 'state') told.push(metadata['state']);
      }
      return told;
    },
    gives: [{ n: 2 }, { n: 6 }, { n: 2 }, { n: 8 }],
  },
  {
    feature: 'stream modes',
    from: 'func.test.ts: a stream writer',
    what: 'a function tells something of its own while it works',
    verdict: 'same',
    async run() {
      const bake = graph<{ cake: string }>()
        .node(
          'cake',
          (_state, step) => {
            step.emit({ type: 'oven', degrees: 180 });
            step.emit({ type: 'oven', degrees: 200 });
            return 'done';
          },
          { inputs: [] },
        )
        .setEntry('cake');
      return ofType(await collect(bake.stream()), 'oven').map(({ metadata }) => metadata['degrees']);
    },
    gives: [180, 200],
  },
  {
    feature: 'stream modes',
    from: 'pregel.test.ts: messages and custom events from within a subgraph',
    what: "pieces of a model's text and events of a function come out of an inner graph, with where they are from",
    verdict: 'same',
    async run() {
      const own = ownModels({ poet: () => 'a line' });
      const inner = graph<{ task: string }>()
        .node('verse', agentNode(agent({ name: 'poet', model: 'own/poet' })))
        .node('ink', ({ verse }, step) => {
          step.emit({ type: 'blot', on: verse });
          return verse;
        });
      const outer = graph<{ task: string }>().node('poem', workflowNode(inner, 'poem'));
      const events = await collect(outer.stream({ task: 'write' }, { models: own.models }));
      return [...ofType(events, 'model_delta'), ...ofType(events, 'blot')].map(({ type, path, source }) => [
        type,
        path,
        source,
      ]);
    },
    gives: [
      ['model_delta', 'poem/verse', 'verse'],
      ['blot', 'poem/ink', 'ink'],
    ],
  },
  {
    feature: 'stream modes',
    from: 'pregel.test.ts: updates are streamed as soon as they are there',
    what: 'an event comes when it happens, not when the whole inner graph is done',
    verdict: 'same',
    async run() {
      const { opened, open } = gate();
      const inner = graph<{ task: string }>()
        .node('fast', ({ task }) => task)
        .node('slow', async ({ fast }) => {
          await opened;
          return fast;
        });
      const outer = graph<{ task: string }>().node('sub', workflowNode(inner, 'sub'));
      const ended: string[] = [];
      for await (const { type, path } of outer.stream({ task: 'go' })) {
        if (type === 'node_end') ended.push(path);
        if (path === 'sub/fast') open();
      }
      return ended;
    },
    gives: ['sub/fast', 'sub/slow', 'sub'],
  },
  {
    feature: 'stream modes',
    from: 'pregel.test.ts: debug events of nested subgraphs',
    what: 'the start and the end of a step belong together, and an inner step to the node around it',
    verdict: 'same',
    async run() {
      const inner = graph<{ task: string }>().node('leaf', ({ task }) => task);
      const outer = graph<{ task: string }>().node('tree', workflowNode(inner, 'tree'));
      const events = await collect(outer.stream({ task: 'grow' }));
      const [tree, leaf] = ofType(events, 'node_start');
      const ends = ofType(events, 'node_end').map(({ eventId }) => eventId);
      return [ends[0] === leaf?.eventId, ends[1] === tree?.eventId, leaf?.parentEventId === tree?.eventId];
    },
    gives: [true, true, true],
  },
];
