import { describe, expect, it } from 'vitest';
import { graph, workflowNode } from 'skein/graph';
import type { StepEnd } from 'skein/graph';

const broken = (): never => {
  throw new Error('no network');
};

describe('[addition 7] [G8] how a node of a graph ended is a value of the state', () => {
  it('a key that ending names is a parameter like any other, and makes an edge', async () => {
    const flow = graph<{ fetched?: StepEnd }>()
      .node('fetch', broken, { ending: 'fetched', onError: 'ignore' })
      .node('report', ({ fetched }) => `${fetched?.status}: ${fetched?.error?.message}`);
    const { state, outcome } = await flow.run({});
    expect([outcome, state['report']]).toEqual(['degraded', 'failed: no network']);
  });

  it.each([
    ['ignore', undefined],
    ['continue', 'settled'],
  ] as const)('onError: %s', async (onError, join) => {
    const flow = graph<{ how?: { status: string }; said?: string }>()
      .addNode('fetch', broken, { ending: 'how', onError })
      .addNode('report', ({ how }) => ({ said: how?.status ?? 'nothing' }), join === undefined ? {} : { join })
      .addEdge('fetch', 'report')
      .setEntry('fetch');
    expect((await flow.run({})).state.said).toBe('failed');
  });

  it('skipped nodes tell it, by their condition or by the path that was not taken', async () => {
    const flow = graph<{ a?: { status: string }; b?: { status: string }; n?: number }>()
      .addNode('start', () => ({ n: 1 }))
      .addNode('a', () => ({}), { when: ({ n }) => n === 2, ending: 'a' })
      .addNode('b', () => ({}), { ending: 'b' })
      .addNode('last', () => ({}), { join: 'settled' })
      .addEdge('start', 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'last')
      .setEntry('start');
    const { state } = await flow.run({});
    expect([state.a, state.b]).toEqual([{ status: 'skipped' }, { status: 'skipped' }]);
  });

  it('a map tells which items failed', async () => {
    const flow = graph<{ went?: StepEnd }>()
      .node('list', () => ['x', 'y'])
      .map('each', { over: 'list', onItemError: 'continue', ending: 'went' }, ({ item }) =>
        item === 'y' ? broken() : item,
      )
      .node('last', ({ went }) => went);
    const { state } = await flow.run({});
    expect(state['last']).toEqual({ status: 'succeeded', errors: [{ index: 1, key: '1', message: 'no network' }] });
  });

  it('a map tells them in the order of the list, whichever failed first', async () => {
    for (const slow of ['a', 'c']) {
      const items = graph<{ list: string[]; went?: StepEnd }>()
        .map('each', { over: 'list', onItemError: 'continue', ending: 'went' }, async ({ item }) => {
          await new Promise((resolve) => setTimeout(resolve, item === slow ? 5 : 0));
          throw new Error(`no ${item}`);
        })
        .setEntry('each');
      const { state } = await items.run({ list: ['a', 'b', 'c'] });
      expect(state.went?.errors?.map(({ index }) => index)).toEqual([0, 1, 2]);
    }
  });

  it('too few items and branches name the failures in the order of the list and of the plan', async () => {
    const late = async (ms: number, name: string): Promise<never> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      throw new Error(`no ${name}`);
    };
    const items = graph<{ list: string[] }>().map('each', { over: 'list', require: 1 }, ({ item }) =>
      late(item === 'a' ? 5 : 0, item),
    );
    expect((await items.run({ list: ['a', 'b'] })).error?.message).toContain('each[0]: no a; each[1]: no b');
    const branches = graph()
      .node('slow', () => late(5, 'slow'))
      .node('quick', () => late(0, 'quick'));
    const group = graph().node('group', workflowNode(branches, 'group', { require: 1, projectState: true }));
    expect((await group.run()).error?.message).toContain('group/slow: no slow; group/quick: no quick');
  });

  it('a handler of a failure reads it, and a node that succeeds on its second try has succeeded', async () => {
    let tries = 0;
    const flow = graph<{ how?: { status: string }; said?: string }>()
      .addNode('fetch', broken, { ending: 'how', onError: { to: 'rescue' } })
      .addNode('rescue', ({ how }) => ({ said: how?.status ?? '' }))
      .addNode('again', () => ((tries += 1) === 1 ? broken() : {}), {
        ending: 'how',
        retry: { retries: 1, delayMs: 0, on: 'any' },
      })
      .addEdge('rescue', 'again')
      .setEntry('fetch');
    const { state } = await flow.run({});
    expect([state.said, state.how]).toEqual(['failed', { status: 'succeeded' }]);
  });
});
