import { describe, expect, it } from 'vitest';
import { END, goto, graph, reducers, workflowNode } from '../../src/graph.js';
import { definePlan, memoryStore, readRun, run } from '../../src/index.js';
import type { Store } from '../../src/index.js';

interface State {
  draft: string;
  complaint?: string;
  rounds: number;
}

/** A review that takes its complaint back: what chooses after it must not see the old one. */
function reviewed(done = true) {
  return graph<State>()
    .addNode('write', ({ draft, complaint }) => ({ draft: complaint === undefined ? 'short' : `${draft}, longer` }))
    .addNode('review', ({ draft, rounds }) => ({
      complaint: draft.length < 8 ? 'too short' : undefined,
      rounds: rounds + 1,
    }))
    .addNode('publish', (state) => {
      if (!done) throw new Error('not yet');
      return { draft: `<${state.draft}> ${Object.keys(state).toSorted().join()} ${'complaint' in state}` };
    })
    .addEdge('write', 'review')
    .addConditionalEdge('review', ({ complaint }) => (complaint === undefined ? 'publish' : 'write'), {
      publish: 'publish',
      write: 'write',
    })
    .setEntry('write');
}

const PUBLISHED = { draft: '<short, longer> draft,rounds false', rounds: 2 };

describe('a key that an update gives as undefined', () => {
  it('[XG5] is absent from then on', async () => {
    const { state, nodesRun } = await reviewed().run({ rounds: 0 });
    expect(nodesRun).toEqual(['write', 'review', 'write', 'review', 'publish']);
    expect(state).toEqual(PUBLISHED);
    expect('complaint' in state).toBe(false);
  });

  it('[XG5] also when the run is recorded, resumed, and forked', async () => {
    const store = memoryStore();
    const broken = await reviewed(false).run({ rounds: 0 }, { store, runId: 'r' });
    expect([broken.outcome, broken.state]).toEqual(['failed', { draft: 'short, longer', rounds: 2 }]);
    const resumed = await reviewed().run({}, { store, resume: 'r' });
    expect([resumed.state, reusedIn(store, 'r')]).toEqual([PUBLISHED, true]);
    const forked = await reviewed().run({}, { store, fork: { run: 'r' }, runId: 'f' });
    expect(forked.state).toEqual(PUBLISHED);
  });

  it('[XG5] also beside a jump, in a recorded run', async () => {
    const flow = graph<{ note?: string; seen?: boolean }>()
      .addNode('first', () => ({ note: 'old' }))
      .addNode('second', () => goto('third', { note: undefined }), { goto: ['third'] })
      .addNode('third', (state) => ({ seen: 'note' in state }))
      .addEdge('first', 'second')
      .setEntry('first');
    const store = memoryStore();
    expect((await flow.run({}, { store, runId: 'j' })).state).toEqual({ seen: false });
    expect((await flow.run({}, { store, resume: 'j' })).state).toEqual({ seen: false });
    expect((await flow.run()).state).toEqual({ seen: false });
  });

  it('[XG5] in a plan written by hand, and out of a workflow inside', async () => {
    const inner = definePlan<{ note?: string; other?: string }>({
      name: 'inner',
      inputs: [{ name: 'note', required: false }],
      channels: { other: {} },
      nodes: [{ id: 'clear', run: () => ({ note: undefined }) }],
    });
    const plan = definePlan<{ note?: string }>({
      name: 'outer',
      channels: { note: {}, other: {} },
      nodes: [
        { id: 'set', run: () => ({ note: 'old', other: 'kept' }) },
        { id: 'call', kind: 'call', plan: inner, writes: ['note', 'other'] },
        { id: 'look', output: 'seen', run: (state) => 'note' in state },
      ],
      edges: [['set', 'call', 'look']],
    });
    for (const options of [{}, { store: memoryStore() }]) {
      expect((await run(plan, options).result).state).toEqual({ other: 'kept', seen: false });
    }
  });

  it('[XG5] is no key of the state of a graph inside either', async () => {
    const inner = graph<{ task: string; note?: string }>()
      .addNode('set', () => ({ note: 'old' }))
      .addNode('clear', () => ({ note: undefined }))
      .addEdge('set', 'clear')
      .setEntry('set');
    const flow = graph<{ task: string }>().node('inner', workflowNode(inner, 'inner', { projectState: true }));
    expect((await flow.run({ task: 'x' })).state).toEqual({ task: 'x', inner: { task: 'x' } });
  });

  it('[XG5] with a reducer begins anew: what comes after it in the order of the nodes is folded from nothing', async () => {
    const flow = graph<{ log?: string[]; sum?: number; seen?: string }>({
      reducers: { log: reducers.append, sum: (before: number = 0, more: number) => before + more },
    })
      .addNode('a', () => ({ log: 'a', sum: 1 }))
      .addNode('clear', () => ({ log: undefined, sum: undefined }))
      .addNode('look', (state) => ({ seen: Object.keys(state).join() }))
      .addNode('b', () => ({ log: 'b', sum: 2 }))
      .addEdge('a', 'clear')
      .addEdge('clear', 'look')
      .addEdge('look', 'b')
      .setEntry('a');
    for (const options of [{}, { store: memoryStore() }]) {
      expect((await flow.run({}, options)).state).toEqual({ log: ['b'], sum: 2, seen: '' });
    }
  });

  it('[XG5] a node that gives nothing on a later visit has no value any more', async () => {
    const flow = graph<{ tries: number }>()
      .node('draft', ({ tries }) => tries)
      .node('complaint', ({ draft }, step) => (step.path === 'complaint' ? `redo ${draft}` : undefined))
      .node('end', ({ complaint }) => complaint ?? 'none')
      .route('complaint', ({ complaint }) => (complaint === undefined ? 'end' : 'draft'), {
        targets: ['draft', 'end'],
      })
      .setEntry('draft');
    expect((await flow.run({ tries: 1 })).state).toEqual({ tries: 1, draft: 1, end: 'none' });
  });

  it('[XG5] may be any key of the state, of either kind, and a key that was never there', async () => {
    const flow = graph<{ kept: string; never?: string }>()
      .addNode('clear', () => ({ never: undefined }))
      .addConditionalEdge('clear', () => END, {})
      .setEntry('clear');
    expect((await flow.run({ kept: 'yes' })).state).toEqual({ kept: 'yes' });
  });
});

function reusedIn(store: Store, id: string): boolean {
  return readRun(store, id).steps.filter(({ path }) => path === 'write').length === 1;
}
