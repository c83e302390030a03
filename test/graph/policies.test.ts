import { describe, expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { END, goto, graph } from 'skein/graph';
import type { GraphResult } from 'skein/graph';
import { gate } from './support.js';

type Any = Record<string, unknown>;

/** What became of a run: how it ended, which nodes ran, and why not. */
function summary({ outcome, nodesRun, error }: GraphResult<Any>): readonly unknown[] {
  return error === undefined ? [outcome, nodesRun] : [outcome, nodesRun, error.code];
}

describe('join', () => {
  /** Two nodes of which the second waits until the join has run, or until the first has. */
  const race = (join: 'all' | 'any' | 'each' | 'settled' | { quorum: number }, waitsForJoin: boolean) => {
    const { opened, open } = gate();
    return graph<Any>()
      .node('quick', () => {
        if (!waitsForJoin) open();
        return 'quick';
      })
      .node('slow', async () => {
        await opened;
        return 'slow';
      })
      .node(
        'join',
        ({ quick, slow }) => {
          open();
          return [quick, slow];
        },
        { join },
      )
      .setEntry('quick');
  };

  test.each([['all'], ['settled'], [{ quorum: 2 }]] as const)('%j waits for both', async (join) => {
    const { state, nodesRun } = await race(join, false).run();
    expect([state['join'], nodesRun]).toEqual([
      ['quick', 'slow'],
      ['quick', 'slow', 'join'],
    ]);
  });

  test.each([['any'], [{ quorum: 1 }]] as const)('%j runs with the first, once', async (join) => {
    const { state, nodesRun } = await race(join, true).run();
    expect([state['join'], nodesRun]).toEqual([
      ['quick', undefined],
      ['quick', 'join', 'slow'],
    ]);
  });

  test('each runs for every one that arrives', async () => {
    const { nodesRun } = await race('each', true).run();
    expect(nodesRun).toEqual(['quick', 'join', 'slow', 'join']);
  });

  test('settled sees a failure and a skip', async () => {
    const flow = graph<Any>()
      .node('bad', () => Promise.reject(new Error('no')), { onError: 'continue' })
      .node('off', () => 1, { when: () => false })
      .node(
        'report',
        ({ bad, off }, step) => step.arrivals.map(({ from, kind, error }) => [from, kind, error?.message, bad ?? off]),
        { join: 'settled' },
      )
      .setEntry('bad');
    const { outcome, state } = await flow.run();
    expect(outcome).toBe('degraded');
    expect(state['report']).toEqual([
      ['bad', 'failed', 'no', undefined],
      ['off', 'dead', undefined, undefined],
    ]);
  });

  test('a quorum that can not be reached is an error before a run', () => {
    const flow = graph<Any>()
      .node('a', () => 1)
      .node('b', ({ a }) => a, { join: { quorum: 2 } })
      .setEntry('a');
    expect(() => flow.compile()).toThrow(/join-never-fills/);
  });
});

describe('retry', () => {
  const failing = (times: number, retry: number | { on?: string[] }) => {
    let left = times;
    const policy = typeof retry === 'number' ? retry : { retries: 3, backoff: 'fixed' as const, delayMs: 0, ...retry };
    return graph<Any>()
      .node(
        'flaky',
        (_state, { attempt }) => {
          left -= 1;
          if (left >= 0) throw new Error('the line is busy');
          return attempt;
        },
        { inputs: [], retry: policy },
      )
      .setEntry('flaky');
  };

  test('of the errors that are named', async () => {
    const { outcome, state, events } = await failing(2, { on: ['BUSY'] }).run();
    expect([outcome, state['flaky']]).toEqual(['succeeded', 3]);
    expect(events.filter(({ type }) => type === 'node_retry').map(({ metadata }) => metadata['attempt'])).toHaveLength(
      2,
    );
  });

  test('not of others, and not for ever', async () => {
    expect(summary(await failing(1, { on: ['timeout'] }).run())).toEqual(['failed', [], 'SKEIN_STEP_FAILED']);
    expect(summary(await failing(4, { on: ['busy'] }).run())).toEqual(['failed', [], 'SKEIN_STEP_FAILED']);
  });

  test('without names whatever may go away is tried again, as often as the number says', async () => {
    expect(await failing(2, {}).run()).toMatchObject({ outcome: 'succeeded', state: { flaky: 3 } });
    const { plan } = failing(1, 3).compile();
    expect(plan.nodes[0]?.retry).toEqual({ retries: 3, backoff: 'exponential', delayMs: 1000 });
  });
});

describe('onError', () => {
  const flow = (onError: 'fail' | 'continue' | 'ignore' | 'skipDependents' | { to: string }) =>
    graph<Any>()
      .node('fine', () => 1)
      .node('bad', () => Promise.reject(new RangeError('no')), { onError })
      .node('both', ({ fine, bad }) => [fine, bad])
      .node('only', ({ bad }) => [bad])
      .node('instead', () => 'instead')
      .setEntry('fine')
      .run();

  test.each([
    ['fail', ['failed', ['fine'], 'SKEIN_STEP_FAILED']],
    ['continue', ['degraded', ['fine', 'both']]],
    ['ignore', ['degraded', ['fine', 'both', 'only']]],
    ['skipDependents', ['degraded', ['fine']]],
    [{ to: 'instead' }, ['degraded', ['fine', 'both', 'instead']]],
  ] as const)('%j', async (onError, expected) => {
    const result = await flow(onError);
    const [outcome, nodes, ...code] = summary(result);
    expect([outcome, new Set(nodes as string[]), ...code]).toEqual([
      expected[0],
      new Set(expected[1]),
      ...expected.slice(2),
    ]);
    const { failed, degraded } = result.census;
    expect([failed, degraded, result.success]).toEqual(onError === 'fail' ? [1, 0, false] : [0, 1, true]);
  });
});

describe('goto', () => {
  const jumping = (body: () => unknown, targets: readonly string[] = ['b', 'c']) =>
    graph<Any>()
      .node('a', body, { goto: targets })
      .node('b', ({ a }) => `b ${String(a)}`)
      .node('c', ({ a }) => `c ${String(a)}`)
      .setEntry('a');

  test('to one node, with a value that it may read', async () => {
    const { state, nodesRun } = await jumping(() => goto('c', 5)).run();
    expect([state, nodesRun]).toEqual([{ a: 5, c: 'c 5' }, ['a', 'c']]);
  });

  test('to several, and to the end', async () => {
    expect((await jumping(() => goto(['b', 'c'], 1)).run()).nodesRun).toEqual(['a', 'b', 'c']);
    expect((await jumping(() => goto(END, 1)).run()).state).toEqual({ a: 1 });
  });

  test('a result that says nothing of it ends the branch', async () => {
    const { outcome, state } = await jumping(() => 7).run();
    expect([outcome, state]).toEqual(['succeeded', { a: 7 }]);
  });

  test('elsewhere than it said fails the run, and so does a jump of a node that did not say so', async () => {
    const elsewhere = graph<Any>()
      .node('a', () => goto('c'), { goto: ['b'] })
      .node('b', () => 1)
      .node('c', () => 1)
      .setEntry('a');
    expect(summary(await elsewhere.run())).toEqual(['failed', [], 'SKEIN_BAD_ROUTE']);
    const undeclared = graph<Any>()
      .node('a', () => goto('b'))
      .node('b', () => 1)
      .addEdge('a', 'b')
      .setEntry('a');
    expect(summary(await undeclared.run())).toEqual(['failed', [], 'SKEIN_BAD_UPDATE']);
    const store = memoryStore();
    const recorded = await undeclared.run({}, { store });
    expect(recorded.error?.hint).toContain("{ goto: ['b'] }");
    expect(summary(await undeclared.run({}, { store, resume: recorded.runId }))).toEqual(summary(recorded));
  });

  test('back to an earlier node is a loop', async () => {
    const flow = graph<{ n: number; end: string }>()
      .addNode('count', ({ n }) => ({ n: n + 1 }))
      .addNode('check', ({ n }) => (n < 3 ? goto('count') : goto('end', { n: n * 10 })), { goto: ['count', 'end'] })
      .addNode('end', ({ n }) => ({ end: `at ${n}` }))
      .addEdge('count', 'check')
      .setEntry('count');
    expect((await flow.run({ n: 0 })).state).toEqual({ n: 30, end: 'at 30' });
  });
});

describe('when and maxVisits', () => {
  test('a condition that does not hold skips the node, and what only it leads to', async () => {
    const flow = graph<{ n: number }>()
      .node('big', ({ n }) => n, {
        when: [({ n }) => n > 1, { op: 'cel', expression: 'n > 0', vars: { n: { channel: 'n' } } }],
      })
      .node('after', ({ big }) => big)
      .setEntry('big');
    expect((await flow.run({ n: 2 })).nodesRun).toEqual(['big', 'after']);
    const { census, success } = await flow.run({ n: 1 });
    expect([success, census.skipped]).toEqual([true, 2]);
  });

  const loop = (options: { maxVisits: number; onMaxVisits?: 'fail' | 'skip' | { to: string } }) =>
    graph<{ n: number }>()
      .addNode('again', ({ n }) => ({ n: n + 1 }), options)
      .addNode('out', ({ n }) => ({ n: n + 100 }))
      .addConditionalEdge('again', () => 'again', { again: 'again' })
      .setEntry('again')
      .run({ n: 0 });

  test('the cap of a node fails the run, skips the node, or leads elsewhere', async () => {
    const failed = await loop({ maxVisits: 3 });
    expect([failed.error?.code, failed.state.n]).toEqual(['SKEIN_MAX_VISITS', 3]);
    expect((await loop({ maxVisits: 3, onMaxVisits: 'skip' })).state.n).toBe(3);
    expect((await loop({ maxVisits: 3, onMaxVisits: { to: 'out' } })).state.n).toBe(103);
  });
});
