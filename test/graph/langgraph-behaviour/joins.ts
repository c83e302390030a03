import { answerRun, memoryStore } from 'skein';
import { END, graph, reducers } from 'skein/graph';
import type { Behaviour } from './behaviour.js';

interface Walk {
  ran: string[];
  ways: string[];
}

/** Nodes that only say that they ran, behind a first one that chooses. */
function walk(names: readonly string[], ways: readonly string[]) {
  const flow = graph<Walk, 'ran'>({ reducers: { ran: reducers.append } }).addNode('begin', () => null);
  for (const name of names) flow.addNode(name, () => ({ ran: name }));
  return flow
    .addConditionalEdge('begin', ({ ways: chosen }) => chosen, Object.fromEntries(ways.map((way) => [way, way])))
    .setEntry('begin');
}

export const JOINS: readonly Behaviour[] = [
  {
    feature: 'joins and reducers',
    from: 'inclusive_waiting_edges.test.ts: one of two listed nodes is chosen',
    what: 'a node waits for two others, and only one of them is chosen',
    verdict: { differs: 'it runs with what there is, also without `inclusive`: nothing that was written is dropped' },
    async run() {
      const flow = walk(['left', 'right', 'meet'], ['left', 'right']).addEdge('left', 'meet').addEdge('right', 'meet');
      return (await flow.run({ ways: ['left'] })).state.ran;
    },
    gives: ['left', 'meet'],
  },
  {
    feature: 'joins and reducers',
    from: 'inclusive_waiting_edges.test.ts: branches of unlike depth, whichever are chosen',
    what: 'a node behind three branches runs once for any choice of them, and waits for the longest',
    verdict: 'same',
    async run() {
      const flow = walk(['read', 'hear', 'note', 'see', 'list'], ['read', 'hear', 'see'])
        .addEdge('hear', 'note')
        .addEdge('read', 'list')
        .addEdge('note', 'list')
        .addEdge('see', 'list');
      const runs = [];
      for (const ways of [['read', 'hear', 'see'], ['read'], ['read', 'hear']])
        runs.push((await flow.run({ ways })).state.ran);
      return runs;
    },
    gives: [
      ['read', 'hear', 'note', 'see', 'list'],
      ['read', 'list'],
      ['read', 'hear', 'note', 'list'],
    ],
  },
  {
    feature: 'joins and reducers',
    from: 'inclusive_waiting_edges.test.ts: nothing arrives at the edge',
    what: 'a node behind branches none of which is chosen does not run',
    verdict: 'same',
    async run() {
      const flow = walk(['off', 'left', 'right', 'meet'], ['off', 'left', 'right'])
        .addEdge('left', 'meet')
        .addEdge('right', 'meet');
      const { state, census } = await flow.run({ ways: ['off'] });
      return [state.ran, census.skipped];
    },
    gives: [['off'], 3],
  },
  {
    feature: 'joins and reducers',
    from: 'inclusive_waiting_edges.test.ts: an edge in a loop, and a last round with half of it',
    what: 'a join in a loop waits for both branches in one round, and for one in the next',
    verdict: 'same',
    async run() {
      const rounds = ({ ran }: Walk): number => ran.filter((name) => name === 'meet').length;
      const flow = graph<Walk, 'ran'>({ reducers: { ran: reducers.append } });
      for (const name of ['fan', 'left', 'right', 'meet']) flow.addNode(name, () => ({ ran: name }));
      flow
        .addConditionalEdge('fan', (state) => (rounds(state) === 0 ? ['left', 'right'] : ['left']), {
          left: 'left',
          right: 'right',
        })
        .addEdge('left', 'meet')
        .addEdge('right', 'meet')
        .addConditionalEdge('meet', (state) => (rounds(state) < 2 ? 'fan' : END), { fan: 'fan' })
        .setEntry('fan');
      return (await flow.run()).state.ran;
    },
    gives: ['fan', 'left', 'right', 'meet', 'fan', 'left', 'meet'],
  },
  {
    feature: 'joins and reducers',
    from: 'inclusive_waiting_edges.test.ts: a listed node that completes twice',
    what: 'a node is chosen, and also stands behind another one that is chosen',
    verdict: { differs: 'it waits for the other one and runs once, and so does what follows' },
    async run() {
      const flow = walk(['one', 'two', 'meet'], ['one', 'two'])
        .addEdge('one', 'two')
        .addEdge('one', 'meet')
        .addEdge('two', 'meet');
      return (await flow.run({ ways: ['one', 'two'] })).state.ran;
    },
    gives: ['one', 'two', 'meet'],
  },
  {
    feature: 'joins and reducers',
    from: 'inclusive_waiting_edges.test.ts: an interrupt elsewhere holds the edge',
    what: 'a join whose own branches are decided, while a question waits somewhere else',
    verdict: { differs: 'it runs at once: a node waits for what leads to it, and for nothing else' },
    async run() {
      const flow = walk(['left', 'right', 'meet'], ['left', 'right', 'ask'])
        .addNode('ask', async (_state, step) => ({ ran: await step.ask({ text: 'Go on?' }) }))
        .addEdge('left', 'meet')
        .addEdge('right', 'meet');
      const store = memoryStore();
      const paused = await flow.run({ ways: ['left', 'ask'] }, { store });
      answerRun(store, paused.runId, { value: 'yes' });
      const { outcome, state } = await flow.run({}, { store, resume: paused.runId });
      return [paused.outcome, paused.state.ran, outcome, state.ran?.toSorted()];
    },
    gives: ['paused', ['left', 'meet'], 'succeeded', ['left', 'meet', 'yes']],
  },
];
