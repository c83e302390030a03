import { getThread, memoryStore, updateThread } from 'skein';
import type { Store } from 'skein';
import { graph, reducers } from 'skein/graph';
import type { Behaviour } from './behaviour.js';

/** A till: it adds what is paid in, and takes no sum above 40. */
const till = () =>
  graph<{ paid: number; total: number }>({ reducers: { total: reducers.add } })
    .addNode('add', ({ paid }) => ({ total: paid }))
    .addNode('look', ({ total }) => {
      if (total > 40) throw new Error('the till is full');
    })
    .addEdge('add', 'look')
    .setEntry('add');

const totalOf = (store: Store, thread: string): unknown => getThread(store, thread).state['total'];

export const CONVERSATIONS: readonly Behaviour[] = [
  {
    feature: 'conversation',
    from: 'python_port/checkpoint.test.ts: a thread that is invoked four times',
    what: 'a reducer goes on where the turn before left it',
    verdict: 'same',
    async run() {
      const diary = graph<{ pages: string[] }>({ reducers: { pages: reducers.append } })
        .addNode('write', () => ({ pages: 'dear diary' }))
        .setEntry('write');
      const store = memoryStore();
      const lengths: unknown[] = [];
      for (let turn = 0; turn < 4; turn += 1)
        lengths.push((await diary.run({}, { store, thread: 'june' })).state.pages?.length);
      return lengths;
    },
    gives: [1, 2, 3, 4],
  },
  {
    feature: 'conversation',
    from: 'pregel.test.ts: checkpoints, with an input that is too large',
    what: 'a turn that fails leaves the state of the thread as it was, and the next one goes on from there',
    verdict: 'same',
    async run() {
      const store = memoryStore();
      const seen: unknown[] = [];
      for (const paid of [12, 20, 30, 5]) {
        const { outcome } = await till().run({ paid }, { store, thread: 'counter' });
        seen.push([outcome, totalOf(store, 'counter')]);
      }
      return seen;
    },
    gives: [
      ['succeeded', 12],
      ['succeeded', 32],
      ['failed', 32],
      ['succeeded', 37],
    ],
  },
  {
    feature: 'conversation',
    from: 'concurrent-thread-isolation.test.ts: one compiled graph, four threads at once',
    what: 'threads that run at the same time share nothing',
    verdict: 'same',
    async run() {
      const store = memoryStore();
      const shop = till().compile();
      const names = ['north', 'east', 'south', 'west'];
      for (const round of [1, 10])
        await Promise.all(names.map((thread, at) => shop.run({ paid: at * round }, { store, thread })));
      return names.map((name) => totalOf(store, name));
    },
    gives: [0, 11, 22, 33],
  },
  {
    feature: 'conversation',
    from: 'pregel.test.ts: a falsy value is persisted',
    what: 'zero, false and the empty text are kept like any value',
    verdict: 'same',
    async run() {
      const keep = graph<{ count: number; open: boolean; note: string }>()
        .addNode('same', ({ count, open, note }) => ({ count, open, note }))
        .setEntry('same');
      const store = memoryStore();
      await keep.run({ count: 0, open: false, note: '' }, { store, thread: 'nothing' });
      return getThread(store, 'nothing').state;
    },
    gives: { count: 0, open: false, note: '' },
  },
  {
    feature: 'conversation',
    from: 'pregel.test.ts: a checkpointer, and no thread_id in the config',
    what: 'a run with a store and no thread',
    verdict: { differs: 'it is recorded as a run by itself: a store is for resuming too, not only for conversations' },
    async run() {
      const store = memoryStore();
      const { runId, outcome } = await till().run({ paid: 3 }, { store });
      return [outcome, (await till().run({}, { store, resume: runId })).state.total];
    },
    gives: ['succeeded', 3],
  },
  {
    feature: 'updateState',
    from: 'pregel.test.ts: a branch at the start, the third thread',
    what: 'an edit goes through the reducer of its key',
    verdict: 'same',
    async run() {
      const store = memoryStore();
      await till().run({ paid: 4 }, { store, thread: 'counter' });
      updateThread(store, 'counter', { total: 30 }, { who: 'ada', why: 'coins in the drawer' });
      return (await till().run({ paid: 1 }, { store, thread: 'counter' })).state.total;
    },
    gives: 35,
  },
];
