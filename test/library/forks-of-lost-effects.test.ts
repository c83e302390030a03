import { describe, expect, test } from 'vitest';
import { graph } from '../../src/graph.js';
import { answerRun, definePlan, memoryStore, run, type Fork, type RunResult } from '../../src/index.js';

/** A payment that may be made once only, whose first execution ends with an error, perhaps after the money went. */
function shop() {
  const store = memoryStore();
  const seen = { paid: 0, fails: true };
  const inner = definePlan({
    name: 'pay',
    inputs: ['order'],
    nodes: [
      {
        id: 'pay',
        output: 'receipt',
        effect: 'once',
        run: ({ order }) => {
          seen.paid += 1;
          if (seen.fails) throw new Error('the connection was cut');
          return `${String(order)} paid`;
        },
      },
    ],
  });
  const flow = definePlan({
    name: 'shop',
    nodes: [
      { id: 'order', output: 'order', run: () => 'tea' },
      { id: 'checkout', kind: 'call', plan: inner, writes: ['receipt'] },
    ],
    edges: [['order', 'checkout']],
  });
  const first = async (): Promise<string> => {
    const { outcome, runId } = await run(flow, { store }).result;
    expect([outcome, seen.paid]).toEqual(['failed', 1]);
    seen.fails = false;
    return runId;
  };
  const forked = async (fork: Fork): Promise<RunResult> => run(flow, { store, fork }).result;
  return { store, seen, flow, first, forked };
}

describe('[J4] [J6] a fork of a run that lost track of an effect which may be done only once', () => {
  test('asks what happened, as a resume does', async () => {
    const { store, seen, flow, first, forked } = shop();
    const fork = await forked({ run: await first() });
    expect([fork.outcome, seen.paid]).toEqual(['paused', 1]);
    expect(fork.questions[0]?.question).toContain('may be done once only');
    answerRun(store, fork.runId, { value: 'run it' });
    const { outcome, state } = await run(flow, { store, resume: fork.runId }).result;
    expect([outcome, state['receipt'], seen.paid]).toEqual(['succeeded', 'tea paid', 2]);
  });

  test('asks in a fork of a fork, which has not come to an answer', async () => {
    const { seen, first, forked } = shop();
    const fork = await forked({ run: await first() });
    expect((await forked({ run: fork.runId })).outcome).toBe('paused');
    expect(seen.paid).toBe(1);
  });

  test.each([{ forget: ['checkout'] }, { from: 'checkout' }])(
    'does it again unasked where %o says so',
    async (what) => {
      const { seen, first, forked } = shop();
      const { outcome } = await forked({ run: await first(), ...what });
      expect([outcome, seen.paid]).toEqual(['succeeded', 2]);
    },
  );
});

describe('[J2] [J6] what a person says was done', () => {
  const paying = (paid: unknown[]) =>
    definePlan({
      name: 'paying',
      inputs: ['amount'],
      nodes: [
        {
          id: 'pay',
          output: 'receipt',
          effect: 'once',
          run: ({ amount }) => {
            paid.push(amount);
            if (paid.length === 1) throw new Error('the connection was cut');
            return `paid ${String(amount)}`;
          },
        },
      ],
    });
  const around = (inner: ReturnType<typeof paying>) =>
    definePlan({
      name: 'around',
      inputs: ['amount'],
      nodes: [{ id: 'in', kind: 'call', plan: inner, inputs: { amount: { channel: 'amount' } }, writes: ['receipt'] }],
    });

  test.each([
    ['a workflow', paying],
    ['a called workflow', (paid: unknown[]) => around(paying(paid))],
  ])('does not hold for a fork with another input: %s', async (_name, flowOf) => {
    const paid: unknown[] = [];
    const flow = flowOf(paid);
    const store = memoryStore();
    const { runId } = await run(flow, { store, inputs: { amount: 5 } }).result;
    await run(flow, { store, resume: runId }).result;
    answerRun(store, runId, { value: 'it was done' });
    expect((await run(flow, { store, resume: runId }).result).outcome).toBe('succeeded');
    const same = await run(flow, { store, fork: { run: runId } }).result;
    expect([same.outcome, same.state['receipt'], paid]).toEqual(['succeeded', undefined, [5]]);
    const other = await run(flow, { store, fork: { run: runId }, inputs: { amount: 900 } }).result;
    expect([other.outcome, other.state['receipt'], paid]).toEqual(['succeeded', 'paid 900', [5, 900]]);
  });
});

describe('[J6] an effect that may be done only once', () => {
  /** A payment for each order of a list; the first execution of each ends with an error. */
  function charges(version?: string) {
    const seen = { paid: 0, fails: true };
    const flow = graph<{ orders: string[] }>().map(
      'paid',
      { over: 'orders', item: 'order', effect: 'once', ...(version === undefined ? {} : { version }) },
      ({ order }) => {
        seen.paid += 1;
        if (seen.fails) throw new Error('the connection was cut');
        return `${order} paid`;
      },
    );
    return { seen, flow };
  }

  test('is asked about when it is the function of a map, on a resume and in a fork', async () => {
    const { seen, flow } = charges();
    const store = memoryStore();
    const { runId } = await flow.run({ orders: ['tea'] }, { store });
    seen.fails = false;
    const resumed = await flow.run(undefined, { store, resume: runId });
    expect([resumed.outcome, resumed.questions.map(({ path }) => path), seen.paid]).toEqual([
      'paused',
      ['paid[0]/each'],
      1,
    ]);
    expect((await flow.run({}, { store, fork: { run: runId } })).outcome).toBe('paused');
    expect(seen.paid).toBe(1);
  });

  test('the version of such a map is that of its function: another one runs the items again', async () => {
    const store = memoryStore();
    const one = charges('1');
    one.seen.fails = false;
    const { runId } = await one.flow.run({ orders: ['tea'] }, { store });
    const same = await one.flow.run({}, { store, fork: { run: runId } });
    expect([same.outcome, one.seen.paid]).toEqual(['succeeded', 1]);
    const two = charges('2');
    two.seen.fails = false;
    await two.flow.run({}, { store, fork: { run: runId } });
    expect(two.seen.paid).toBe(1);
  });

  test('is refused for nodes whose work is that of nodes inside them', () => {
    const inner = definePlan({ name: 'inner', nodes: [{ id: 'a', run: () => null }] });
    const outer = definePlan({ name: 'outer', nodes: [{ id: 'b', kind: 'call', plan: inner, effect: 'once' }] });
    expect(() => run(outer)).toThrow(/bad-effect: .*can't have an effect/);
  });
});
