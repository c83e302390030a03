import { answerRun, memoryStore, readRun } from 'skein';
import { END, graph, reducers } from 'skein/graph';
import type { Behaviour } from './behaviour.js';

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const SENDS: readonly Behaviour[] = [
  {
    feature: 'Send with own state',
    from: 'pregel.test.ts: map-reduce flows are allowed',
    what: 'a node runs once for each item, and sees its own item',
    verdict: 'same',
    async run() {
      const kitchen = graph<{ fruits: string[] }>()
        .map('jars', { over: 'fruits', item: 'fruit' }, async ({ fruit }) => `jam of ${fruit}`)
        .setEntry('jars');
      return (await kitchen.run({ fruits: ['plums', 'figs'] })).state.jars;
    },
    gives: ['jam of plums', 'jam of figs'],
  },
  {
    feature: 'Send with own state',
    from: 'python_port/graph_structure.test.ts: a conditional edge after sends',
    what: 'what follows the items runs once, with all of their results',
    verdict: 'same',
    async run() {
      let calls = 0;
      const kitchen = graph<{ fruits: string[] }>()
        .map('jars', { over: 'fruits', item: 'fruit' }, ({ fruit }) => fruit.length)
        .node('shelf', ({ jars }) => [(calls += 1), ...jars])
        .setEntry('jars');
      return (await kitchen.run({ fruits: ['fig', 'plum', 'apple'] })).state.shelf;
    },
    gives: [1, 3, 4, 5],
  },
  {
    feature: 'Send with own state',
    from: 'python_port/graph_structure.test.ts: at most ten of a hundred sends at once',
    what: 'a bound on how many items are open at once',
    verdict: 'same',
    async run() {
      let now = 0;
      let most = 0;
      const list = Array.from({ length: 60 }, (_, at) => at);
      const work = graph<{ list: number[] }>()
        .map('done', { over: 'list', item: 'n', concurrency: 7 }, async ({ n }) => {
          most = Math.max(most, (now += 1));
          await after(1);
          now -= 1;
          return n;
        })
        .setEntry('done');
      const { state } = await work.run({ list });
      return [most, state.done?.length, state.done?.at(-1)];
    },
    gives: [7, 60, 59],
  },
  {
    feature: 'Send with own state',
    from: 'python_port/graph_structure.test.ts: sends are not repeated on a resume',
    what: 'after a failure only the item that failed runs again',
    verdict: 'same',
    async run() {
      const calls: number[] = [];
      const work = graph<{ list: number[] }>()
        .map('done', { over: 'list', item: 'n' }, ({ n }) => {
          calls.push(n);
          if (n === 5 && calls.length < 4) throw new Error('out of flour');
          return n * n;
        })
        .setEntry('done');
      const store = memoryStore();
      const { runId } = await work.run({ list: [3, 4, 5] }, { store });
      return [(await work.run({}, { store, resume: runId })).state.done, calls];
    },
    gives: [
      [9, 16, 25],
      [3, 4, 5, 5],
    ],
  },
  {
    feature: 'Send with own state',
    from: 'pregel.test.ts: sends to nested graphs that stop in the middle',
    what: 'a graph for each item; each one stops at its own question, and all go on together',
    verdict: 'same',
    async run() {
      const card = graph<{ guest: string }>()
        .node('text', ({ guest }) => `Dear ${guest}`)
        .node('may', ({ text }, step) => step.ask({ text: `Print "${text}"?` }))
        .node('card', ({ text, may }) => `${text}: ${may}`);
      const cards = graph<{ guests: string[] }>().map('cards', { over: 'guests', item: 'guest' }, card);
      const store = memoryStore();
      const { runId } = await cards.run({ guests: ['Ann', 'Bo'] }, { store });
      const open = readRun(store, runId).questions;
      for (const { key, path } of open) answerRun(store, runId, { key, value: path.includes('[0]') ? 'yes' : 'no' });
      return [open.map(({ path }) => path), (await cards.run({}, { store, resume: runId })).state.cards];
    },
    gives: [
      ['cards[0]/may', 'cards[1]/may'],
      ['Dear Ann: yes', 'Dear Bo: no'],
    ],
  },
  {
    feature: 'Send with own state',
    from: 'pregel.test.ts: two nodes that send to the same node at once',
    what: 'two nodes that each want the same work done for their own items',
    verdict: {
      differs: 'a map has one list: the nodes write it through a reducer, and the items have the order of the nodes',
    },
    async run() {
      const post = graph<{ parcels: string[] }>({ reducers: { parcels: reducers.extend } })
        .addNode('open', () => null)
        .addNode('shop', () => ({ parcels: ['a', 'b'] }))
        .addNode('office', () => ({ parcels: ['c'] }))
        .map('sent', { over: 'parcels', item: 'parcel' }, ({ parcel }) => `sent ${parcel}`)
        .addEdge('open', 'shop')
        .addEdge('open', 'office')
        .addEdge('shop', 'sent')
        .addEdge('office', 'sent')
        .setEntry('open');
      return (await post.run()).state['sent' as never];
    },
    gives: ['sent a', 'sent b', 'sent c'],
  },
  {
    feature: 'conditional start',
    from: 'python_port/graph_structure.test.ts: a conditional entry',
    what: 'what a run begins with is chosen by its inputs',
    verdict: { differs: 'a choice comes after a node: the first one does nothing' },
    async run() {
      const desk = graph<{ words: string; shelf: string }>()
        .addNode('begin', () => null)
        .addNode('short', ({ words }) => ({ shelf: `short: ${words}` }))
        .addNode('long', ({ words }) => ({ shelf: `long: ${words}` }))
        .addConditionalEdge('begin', ({ words }) => words.length > 6, { true: 'long', false: 'short' })
        .setEntry('begin');
      const runs = [await desk.run({ words: 'haiku' }), await desk.run({ words: 'trilogy' })];
      return runs.map(({ state, nodesRun }) => [state.shelf, nodesRun]);
    },
    gives: [
      ['short: haiku', ['begin', 'short']],
      ['long: trilogy', ['begin', 'long']],
    ],
  },
  {
    feature: 'conditional start',
    from: 'python_port/interrupt.test.ts: a conditional start with two nodes',
    what: 'the choice at the start may name several nodes, which run at once',
    verdict: 'same',
    async run() {
      const band = graph<{ tune: string[] }>({ reducers: { tune: reducers.append } })
        .addNode('count', () => null)
        .addNode('flute', () => ({ tune: 'flute' }))
        .addNode('drum', () => ({ tune: 'drum' }))
        .addNode('harp', () => ({ tune: 'harp' }))
        .addConditionalEdge('count', () => ['harp', 'flute'], { flute: 'flute', drum: 'drum', harp: 'harp' })
        .setEntry('count');
      return (await band.run()).state.tune;
    },
    gives: ['flute', 'harp'],
  },
  {
    feature: 'conditional start',
    from: 'python_port/graph_structure.test.ts: a conditional entry that sees the whole state',
    what: 'the choice at the start sees every input, and may end the run at once',
    verdict: 'same',
    async run() {
      const door = graph<{ tickets: number; seats: string[] }>({ reducers: { seats: reducers.append } })
        .addNode('look', () => null)
        .addNode('seat', ({ tickets }) => ({ seats: `row ${tickets}` }))
        .addConditionalEdge('look', ({ tickets, seats }) => (tickets > 0 && seats.length === 0 ? 'seat' : END))
        .setEntry('look');
      const runs = [await door.run({ tickets: 2, seats: [] }), await door.run({ tickets: 0, seats: [] })];
      return runs.map(({ state }) => state.seats);
    },
    gives: [['row 2'], []],
  },
];
