import { describe, expect, test } from 'vitest';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import { startRun } from '../../src/engine/run.js';
import type { AskNode, PlanNode } from '../../src/plan/plan.js';
import { FakeClock, ManualDurable } from '../../src/testing/index.js';
import { logs, outcomes, plan, run, writes, type State } from './plans.js';

const ask = (more: Partial<AskNode> = {}): AskNode => ({
  kind: 'ask',
  id: 'sure',
  question: ['Delete ', { channel: 'file' }, '?'],
  ...more,
});

describe('wait', () => {
  test('passes time by the clock of the run, and writes nothing', async () => {
    const clock = new FakeClock(0);
    const waiting = plan({
      nodes: [{ kind: 'wait', id: 'w', ms: 5_000 }, 'after'],
      edges: ['w>after'],
      channels: ['log:append'],
    });
    const { result } = startRun(waiting, {
      bindings: { after: logs('after') },
      durable: new MemoryDurable('r', { clock }),
    });
    clock.advance(4_999);
    expect(clock.waiting).toBe(1);
    clock.advance(1);
    expect((await result).state).toEqual({ log: ['after'] });
  });

  test('an event ends it, and its value goes to the output', async () => {
    const node: PlanNode = { kind: 'wait', id: 'w', event: 'paid', ms: 1_000, output: 'sum' };
    const durable = new ManualDurable();
    const { result } = startRun(plan({ nodes: [node], channels: ['sum'] }), { durable });
    expect(durable.answer('refunded', 1)).toBe(false);
    expect(durable.answer('paid', 42)).toBe(true);
    await durable.deliver('w@event');
    expect(await result).toMatchObject({ outcome: 'succeeded', state: { sum: 42 } });
    expect(durable.pending).toEqual([]);
  });

  test('an event that does not come within `ms` times the step out', async () => {
    const node: PlanNode = { kind: 'wait', id: 'w', event: 'paid', ms: 1_000 };
    const durable = new ManualDurable({ startAt: 0 });
    const { result } = startRun(plan({ nodes: [node] }), { durable });
    await durable.deliver('w@event');
    expect(await result).toMatchObject({
      outcome: 'failed',
      error: { code: 'SKEIN_TIMEOUT' },
      census: { timed_out: 1 },
    });
    expect(durable.now()).toBe(1_000);
    expect(durable.pending).toEqual([]);
  });

  test('where nobody can send events the run pauses', async () => {
    const { result } = await run(plan({ nodes: [{ kind: 'wait', id: 'w', event: 'paid' }] }), {});
    expect(result.outcome).toBe('paused');
    expect(outcomes(result)).toEqual({ w: 'paused' });
  });
});

describe('ask', () => {
  const asking = (node: AskNode): ReturnType<typeof plan> =>
    plan({
      nodes: ['first', node, 'side', 'after'],
      edges: ['first>sure', 'first>side', 'sure>after'],
      channels: ['file', 'log:append'],
    });
  const bindings = {
    first: writes({ file: 'a.txt' }),
    side: logs('side'),
    after: (state: State) => ({ log: `said ${String(state.answer ?? state.sure)}` }),
  };

  test('the question is rendered from what the step sees; the answer goes to the output, or to a channel of its name', async () => {
    for (const more of [{ output: 'answer' }, {}]) {
      const asked: unknown[] = [];
      const answer = (question: unknown, address: string): Promise<string> => {
        asked.push([question, address]);
        return Promise.resolve('yes');
      };
      const durable = new MemoryDurable('r', { answer });
      const choices = ['yes', 'no'];
      const { result } = startRun(asking(ask({ choices, ...more })), { bindings, durable });
      expect((await result).state.log).toEqual(expect.arrayContaining(['side', 'said yes']));
      expect(asked).toEqual([[{ text: 'Delete a.txt?', choices, schema: { enum: choices } }, 'sure@answer']]);
    }
  });

  test('when nobody can answer, all else still runs, and then the run is paused', async () => {
    const { result } = await run(asking(ask()), bindings);
    expect(result.outcome).toBe('paused');
    expect(result.state).toMatchObject({ file: 'a.txt', log: ['side'] });
    expect(result.steps).toEqual([
      expect.objectContaining({ path: 'sure', outcome: 'paused', reason: 'Delete a.txt?' }),
    ]);
    expect(result.census).toMatchObject({ succeeded: 2, paused: 1, notRun: 1 });
  });

  test('a question inside of a sub-plan pauses the steps around it', async () => {
    const inner = plan({ nodes: [ask({ question: ['Well?'] })] });
    const { result } = await run(plan({ nodes: [{ kind: 'call', id: 'sub', plan: inner }] }), {});
    expect(result.outcome).toBe('paused');
    expect(outcomes(result)).toEqual({ 'sub/sure': 'paused', sub: 'paused' });
  });
});

describe('time spent paused counts toward no timeout', () => {
  const inner = plan({ nodes: [ask({ output: 'sure' })], inputs: [{ channel: 'file', name: 'file', required: true }] });
  const shapes: readonly (readonly [string, PlanNode])[] = [
    ['of the question itself', ask({ output: 'sure', timeoutMs: 1_000 })],
    ['of the step around it', { kind: 'call', id: 'outer', plan: inner, writes: ['sure'], timeoutMs: 1_000 }],
  ];

  test.each(shapes)('%s', async (_name, node) => {
    const clock = new FakeClock(0);
    const given: ((answer: string) => void)[] = [];
    const answer = (): Promise<string> => new Promise((resolve) => given.push(resolve));
    const asking = plan({ nodes: [node], inputs: [{ channel: 'file', name: 'file', required: true }] });
    const durable = new MemoryDurable('r', { clock, answer });
    const { result } = startRun(asking, { inputs: { file: 'a.ts' }, durable });
    await new Promise((rest) => setImmediate(rest));
    clock.advance(3_600_000);
    given[0]?.('yes');
    expect(await result).toMatchObject({ outcome: 'succeeded', state: { sure: 'yes' } });
    expect(clock.waiting).toBe(0);
  });
});
