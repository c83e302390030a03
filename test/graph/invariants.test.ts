import { describe, expect, test } from 'vitest';
import { FakeClock } from 'skein/testing';
import { MemoryDurable, memoryStore, startRun } from 'skein';
import { graph } from 'skein/graph';
import type { GraphEvent, Invariant, InvariantPolicy, InvariantView } from 'skein/graph';
import { gate, outline } from './support.js';

interface State {
  readonly n: number;
  readonly estimatedCostUsd?: number;
}

const below = (bound: number, policy?: InvariantPolicy): Invariant<State> => ({
  predicate: ({ state }) => state.n < bound,
  message: `n < ${bound}`,
  ...(policy === undefined ? {} : { policy }),
});

const counting = (invariants: readonly Invariant<State>[], policy?: InvariantPolicy) =>
  graph<State>({ invariants, ...(policy === undefined ? {} : { policy }) })
    .addNode('a', ({ n }) => ({ n: n + 1 }))
    .addNode('b', ({ n }) => ({ n: n + 1 }))
    .addNode('c', ({ n }) => ({ n: n + 1 }))
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .setEntry('a');

function violations(events: readonly GraphEvent[]): GraphEvent[] {
  return events.filter((event) => event.type === 'contract_violation');
}

describe('what an invariant sees', () => {
  test('[50] it is looked at after each node, with the state after it and counts of what ran', async () => {
    const views: InvariantView<State>[] = [];
    const look: Invariant<State> = { predicate: (view) => views.push(view) > 0, message: 'looks' };
    const result = await counting([look]).run({ n: 0 });
    expect(result.success).toBe(true);
    expect(
      views.map(({ state, nodeCount, nodesRun, errorCount }) => [state.n, nodeCount, nodesRun, errorCount]),
    ).toEqual([
      [1, 1, ['a'], 0],
      [2, 2, ['a', 'b'], 0],
      [3, 3, ['a', 'b', 'c'], 0],
    ]);
    for (const { elapsedMs } of views) expect(elapsedMs).toBeGreaterThanOrEqual(0);
  });

  test('[50] what a call costs is read from the state', async () => {
    const seen: number[] = [];
    const look: Invariant<State> = { predicate: (view) => seen.push(view.estimatedCostUsd) > 0, message: 'looks' };
    const flow = graph<State>({ invariants: [look] })
      .addNode('a', () => null)
      .addNode('b', () => ({ estimatedCostUsd: 0.25 }))
      .addEdge('a', 'b')
      .setEntry('a');
    await flow.run({ n: 0 });
    expect(seen).toEqual([0, 0.25]);
  });

  test('[50] failures that the graph allows are counted', async () => {
    const seen: number[] = [];
    const look: Invariant<State> = { predicate: (view) => seen.push(view.errorCount) > 0, message: 'looks' };
    const flow = graph<State>({ invariants: [look] })
      .addNode('a', () => null)
      .addNode('bad', () => Promise.reject(new Error('no')), { onError: 'continue' })
      .addNode('b', () => null, { join: 'settled' })
      .addEdge('a', 'bad')
      .addEdge('bad', 'b')
      .setEntry('a');
    expect((await flow.run({ n: 0 })).outcome).toBe('degraded');
    expect(seen).toEqual([0, 1]);
  });

  test('[50] a predicate can not change the state', async () => {
    const flow = counting([{ predicate: (view) => Object.assign(view.state, { n: 9 }).n > 0, message: 'changes' }]);
    const result = await flow.run({ n: 0 });
    expect([result.success, result.state.n]).toEqual([false, 1]);
    expect(violations(result.events)[0]?.metadata).toMatchObject({
      violation: { context: { predicate_error: expect.stringMatching(/read.only/) as unknown } },
    });
  });

  test('time is that of the run: the same for every replay', async () => {
    const clock = new FakeClock();
    const seen: number[] = [];
    const compiled = graph()
      .addNode('a', () => null)
      .addNode('b', () => null)
      .addEdge('a', 'b')
      .setEntry('a')
      .compile();
    const durable = new MemoryDurable('r', { clock });
    const check = ({ elapsedMs }: { readonly elapsedMs: number }): undefined => void seen.push(elapsedMs);
    await startRun(compiled.plan, { bindings: compiled.bindings, durable, check }).result;
    expect(seen).toEqual([0, 0]);
  });
});

describe('policies', () => {
  test('[51] enforce is what is meant without a policy: the run ends, with the event', async () => {
    const result = await counting([below(2)]).run({ n: 0 });
    expect([result.outcome, result.error?.code]).toEqual(['failed', 'SKEIN_INVARIANT']);
    expect(result.error?.message).toBe("workflow invariant violated (after 'b'): n < 2");
    expect(outline(result.events).slice(3)).toEqual([
      'node_start b',
      'node_end b',
      'contract_violation b',
      'workflow_end',
    ]);
    expect(result.state).toEqual({ n: 2 });
  });

  test.each<[InvariantPolicy, boolean, number]>([
    ['ignore', true, 0],
    ['observe', true, 2],
    ['enforce', false, 1],
    ['quickEnforce', false, 1],
  ])('[51] %s: success %s, %i events', async (policy, success, events) => {
    for (const flow of [counting([below(2)], policy), counting([below(2, policy)])]) {
      const result = await flow.run({ n: 0 });
      expect([result.success, violations(result.events).length]).toEqual([success, events]);
    }
  });

  test('[51] ignore does not even call the predicate', async () => {
    let calls = 0;
    const count: Invariant<State> = {
      predicate: () => {
        calls += 1;
        return false;
      },
      message: 'counts',
    };
    await counting([count], 'ignore').run({ n: 0 });
    expect(calls).toBe(0);
  });

  test('[51] the policy of an invariant wins over that of the graph, also over ignore', async () => {
    expect((await counting([below(2, 'enforce')], 'ignore').run({ n: 0 })).success).toBe(false);
    expect((await counting([below(2, 'observe')], 'enforce').run({ n: 0 })).success).toBe(true);
    expect((await counting([below(2, 'ignore')], 'enforce').run({ n: 0 })).success).toBe(true);
  });

  test('[51] later invariants are not looked at once one has ended the run; those before it are told', async () => {
    const result = await counting([below(2, 'observe'), below(2), below(1)]).run({ n: 1 });
    expect(violations(result.events).map((event) => event.metadata['index'])).toEqual([0, 1]);
    expect(result.error?.message).toContain('n < 2');
  });

  test('[52] siblings that still run are aborted', async () => {
    const aborted = gate();
    const flow = graph<State>({ invariants: [below(1)] })
      .addNode('start', () => null)
      .addNode('slow', (_, step) => new Promise<null>(() => step.signal.addEventListener('abort', aborted.open)))
      .addNode('a', ({ n }) => ({ n: n + 1 }))
      .addEdge('start', 'slow')
      .addEdge('start', 'a')
      .setEntry('start');
    const result = await flow.run({ n: 0 });
    await aborted.opened;
    expect([result.success, result.census.cancelled]).toEqual([false, 1]);
  });
});

describe('a violation', () => {
  test('[52] says which invariant, after which node, and why', async () => {
    const result = await counting([below(9), below(1, 'observe')]).run({ n: 0 });
    const [first] = violations(result.events);
    expect(first).toMatchObject({ node: 'a', source: null, path: 'a' });
    expect(first?.metadata).toEqual({
      violation: {
        kind: 'workflow_invariant',
        location: 'workflow#1',
        message: 'n < 1',
        context: {
          after_node: 'a',
          predicate_error: null,
          elapsed_ms: expect.any(Number) as unknown,
          node_count: 1,
        },
        policy: 'observe',
      },
      index: 1,
      after_node: 'a',
    });
  });

  test('[52] a predicate that throws does not hold, and says what it threw', async () => {
    const thrower: Invariant<State> = {
      predicate: () => {
        throw new RangeError('lost');
      },
      message: 'throws',
    };
    const result = await counting([thrower]).run({ n: 0 });
    expect(result.error?.message).toBe("workflow invariant violated (after 'a'): throws");
    expect(violations(result.events)[0]?.metadata).toMatchObject({
      violation: { context: { predicate_error: 'RangeError: lost' } },
    });
  });

  test('a predicate that answers later does not hold either', async () => {
    const later = { predicate: async () => Promise.resolve(true), message: 'later' } as unknown as Invariant<State>;
    const result = await counting([later]).run({ n: 0 });
    expect(violations(result.events)[0]?.metadata).toMatchObject({
      violation: { context: { predicate_error: expect.stringContaining('at once') as unknown } },
    });
  });

  test('is told again, the same, when a recorded run is gone through again', async () => {
    const store = memoryStore();
    let broken = true;
    const flow = graph<State>({ invariants: [below(2, 'observe')] })
      .addNode('a', ({ n }) => ({ n: n + 2 }))
      .addNode('b', ({ n }) => {
        if (broken) throw new Error('not yet');
        return { n: n + 1 };
      })
      .addEdge('a', 'b')
      .setEntry('a');
    const first = await flow.run({ n: 0 }, { store, runId: 'r' });
    broken = false;
    const second = await flow.run(undefined, { store, resume: 'r' });
    expect([first.success, second.success]).toEqual([false, true]);
    const told = (events: readonly GraphEvent[]): unknown[] => violations(events).slice(0, 1);
    expect(told(second.events)).toEqual(told(first.events));
  });
});
