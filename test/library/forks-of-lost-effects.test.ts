import { describe, expect, test } from 'vitest';
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
