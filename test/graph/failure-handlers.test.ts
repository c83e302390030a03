import { describe, expect, it } from 'vitest';
import { END, graph } from '../../src/graph.js';
import type { TaskStep } from '../../src/plan/builder-input.js';
import { definePlan, memoryStore, run } from '../../src/index.js';

const told = ({ arrivals }: TaskStep) =>
  arrivals.map(({ from, kind, path, error }) => [from, kind, path, error?.message].join(' '));

describe('the node that takes over for one that failed', () => {
  const flow = (fails: boolean) =>
    graph<{ url: string }>()
      .node(
        'page',
        ({ url }): string => {
          throw new Error(`no ${url}`);
        },
        { onError: { to: 'rescue' } },
      )
      .node('rescue', ({ url }, step) => ({ url, told: told(step) }))
      .node('after', ({ rescue }) => {
        if (fails) throw new Error('later');
        return rescue.told.length;
      })
      .setEntry('page');

  it('[XG4] is told the node, its path and its error', async () => {
    const { state, outcome } = await flow(false).run({ url: 'x' });
    expect([outcome, state.rescue, state.after]).toEqual([
      'degraded',
      { url: 'x', told: ['page failed page no x'] },
      1,
    ]);
  });

  it('[XG4] also in a recorded run, after a resume that reuses it, and with another error', async () => {
    const store = memoryStore();
    let fails = true;
    let rescues = 0;
    const recorded = graph<{ url: string }>()
      .node(
        'page',
        ({ url }): string => {
          throw new Error(`no ${url}`);
        },
        { onError: { to: 'rescue' }, effect: 'read' },
      )
      .node(
        'rescue',
        (_, step) => {
          rescues += 1;
          return told(step);
        },
        { inputs: [] },
      )
      .node('wait', ({ rescue }, step) => step.ask({ text: rescue.join() }))
      .setEntry('page');
    const paused = await recorded.run({ url: 'x' }, { store, runId: 'r' });
    expect([paused.outcome, rescues]).toEqual(['paused', 1]);
    fails = false;
    const { state } = await recorded.run({}, { store, resume: 'r', answer: async () => 'go' });
    expect([state.rescue, state.wait, rescues, fails]).toEqual([['page failed page no x'], 'go', 1, false]);
  });

  it('[XG4] knows which of several nodes it was, and on which visit', async () => {
    let tries = 0;
    const looping = graph<{ log?: string[] }>({ reducers: { log: 'extend' } })
      .addNode(
        'work',
        () => {
          tries += 1;
          throw new Error(`try ${tries}`);
        },
        { onError: { to: 'rescue' } },
      )
      .addNode('rescue', (_, step) => ({ log: told(step) }))
      .addConditionalEdge('rescue', ({ log = [] }) => (log.length < 2 ? 'work' : END), { work: 'work' })
      .setEntry('work');
    expect((await looping.run()).state.log).toEqual(['work failed work try 1', 'work failed work#2 try 2']);
  });

  it('[XG4] in a plan written by hand, for a failed workflow inside, with and without a store', async () => {
    const inner = definePlan({
      name: 'inner',
      nodes: [
        {
          id: 'deep',
          run: () => {
            throw new Error('deep trouble');
          },
        },
      ],
    });
    const plan = definePlan({
      name: 'outer',
      nodes: [
        { id: 'call', kind: 'call', plan: inner, onError: { to: 'rescue' } },
        { id: 'rescue', output: 'told', run: (_, step) => told(step) },
      ],
    });
    for (const options of [{}, { store: memoryStore() }]) {
      const { state } = await run(plan, options).result;
      expect(state).toEqual({ told: ['call failed call deep trouble'] });
    }
  });

  it('[XG4] a settled join is told the path as well, and a join that takes each one its sender', async () => {
    const plan = definePlan({
      name: 'p',
      channels: { each: 'append' },
      nodes: [
        { id: 'a', run: () => undefined },
        {
          id: 'b',
          run: () => {
            throw new Error('no');
          },
          onError: 'continue',
        },
        { id: 'c', run: () => undefined },
        { id: 'all', join: 'settled', output: 'all', run: (_, step) => told(step) },
        { id: 'one', join: 'each', run: (_, step) => ({ each: told(step) }) },
      ],
      edges: [
        ['a', 'all'],
        ['b', 'all'],
        ['a', 'one'],
        ['c', 'one'],
      ],
    });
    const { state } = await run(plan).result;
    expect(state['all']).toEqual(['a live  ', 'b failed b no']);
    expect(state['each']).toEqual([['a live  '], ['c live  ']]);
  });
});
