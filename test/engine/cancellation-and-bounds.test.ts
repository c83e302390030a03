import { describe, expect, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import { ManualDurable } from '../../src/testing/index.js';
import { fails, logs, outcomes, plan, run, task, writes, type State } from './plans.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Bodies that never end by themselves and tell when they are aborted. */
function hanging(heard: string[]): (state: State, step: { path: string; signal: AbortSignal }) => Promise<never> {
  return (_state, step) =>
    new Promise((_resolve, reject) => {
      step.signal.addEventListener('abort', () => {
        heard.push(step.path);
        reject(new Error('aborted'));
      });
    });
}

describe('cancellation', () => {
  const inner = plan({ nodes: ['slow'] });
  const busy = plan({
    nodes: ['quick', 'slow', { kind: 'call', id: 'sub', plan: inner }, { kind: 'wait', id: 'w', ms: 60_000 }, 'after'],
    edges: ['slow>after'],
    channels: ['a'],
  });

  test('an aborted signal reaches every running step, also inside of steps, and closes the run as cancelled', async () => {
    const heard: string[] = [];
    const events: SkeinEvent[] = [];
    const controller = new AbortController();
    const bindings = { quick: writes({ a: 1 }), slow: hanging(heard), 'sub/slow': hanging(heard), after: fails() };
    const listeners = [(event: SkeinEvent): void => void events.push(event)];
    const durable = new ManualDurable({ settleAtOnce: true });
    const handle = startRun(busy, { bindings, durable, listeners, signal: controller.signal });
    await turn();
    controller.abort(new Error('Ctrl-C'));
    const result = await handle.result;
    expect(heard.toSorted()).toEqual(['slow', 'sub/slow']);
    expect(result).toMatchObject({ outcome: 'cancelled', error: { code: 'SKEIN_CANCELLED', message: 'Ctrl-C' } });
    expect(result.state).toEqual({ a: 1 });
    expect(result.census).toMatchObject({ succeeded: 1, cancelled: 4, notRun: 1, failed: 0 });
    expect(durable.pending).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'run.ended', outcome: 'cancelled' });
  });

  test('a signal that was aborted before starts nothing', async () => {
    const { result } = startRun(busy, {
      bindings: { quick: fails(), slow: fails(), 'sub/slow': fails(), after: fails() },
      signal: AbortSignal.abort(new Error('too late')),
    });
    expect(await result).toMatchObject({ outcome: 'cancelled', census: { notRun: 5, cancelled: 0, failed: 0 } });
  });

  test('cancelling twice, or after the end, changes nothing', async () => {
    const handle = startRun(plan({ nodes: ['a'], channels: ['log:append'] }), { bindings: { a: logs('a') } });
    const result = await handle.result;
    handle.cancel();
    expect(result.outcome).toBe('succeeded');
    const other = startRun(plan({ nodes: ['a'] }), { bindings: { a: () => new Promise(() => undefined) } });
    other.cancel('first');
    other.cancel('second');
    expect((await other.result).error?.message).toBe('first');
  });

  test('in backoff, too: no attempt is made any more', async () => {
    const durable = new ManualDurable();
    const retry = { retries: 3, backoff: 'fixed' as const, delayMs: 10, on: 'any' as const };
    let attempts = 0;
    const failing = (): never => fails(`attempt ${(attempts += 1)}`)();
    const handle = startRun(plan({ nodes: [task('a', { retry })] }), { bindings: { a: failing }, durable });
    await durable.deliver('a');
    expect(durable.pending.map((one) => one.key)).toEqual(['a@backoff']);
    handle.cancel();
    expect(await handle.result).toMatchObject({ outcome: 'cancelled', census: { cancelled: 1, failed: 0 } });
    expect([attempts, durable.pending.length]).toEqual([1, 0]);
  });
});

describe('concurrency of a run', () => {
  const NODES = ['a', 'b', 'c', 'd'];

  test('E5: bounds leaf steps in the whole run, also inside of sub-plans, which take no slot themselves', async () => {
    const item = plan({ nodes: ['work'], inputs: [{ channel: 'n', name: 'n', required: true }], channels: ['out'] });
    const wide = plan({
      nodes: [
        'a',
        {
          kind: 'map',
          id: 'each',
          plan: item,
          over: { channel: 'items' },
          item: 'n',
          result: 'out',
          output: 'all',
          maxItems: 9,
        },
      ],
      inputs: [{ channel: 'items', name: 'items', required: true }],
      channels: ['all'],
    });
    let open = 0;
    let most = 0;
    const slow = async (state: State): Promise<Record<string, unknown>> => {
      most = Math.max(most, (open += 1));
      await turn();
      open -= 1;
      return state.n === undefined ? {} : { out: state.n };
    };
    const bindings = { a: slow, 'each/work': slow };
    const inputs = { items: [1, 2, 3, 4, 5] };
    const bounded = await run(wide, bindings, { inputs, concurrency: 2 });
    expect([most, bounded.result.state.all]).toEqual([2, inputs.items]);
    most = 0;
    await run({ ...wide, limits: { concurrency: 3 } }, bindings, { inputs });
    expect(most).toBe(3);
    most = 0;
    await run(wide, bindings, { inputs });
    expect(most).toBe(6);
  });

  test('E9: steps that wait for a slot start in the order in which they became ready', async () => {
    const order = ['b', 'a', 'd', 'c'];
    const bindings = Object.fromEntries(NODES.map((id) => [id, logs(id)]));
    const fan = plan({ nodes: NODES, channels: ['log:append'] });
    const { started, result } = await run(fan, bindings, { order, concurrency: 2 });
    expect(started).toEqual(NODES);
    expect(result.state.log).toEqual(NODES);
  });

  test('a step in backoff holds no slot', async () => {
    const retry = { retries: 1, backoff: 'fixed' as const, delayMs: 1_000, on: 'any' as const };
    const durable = new ManualDurable();
    const once = (_state: State, step: { attempt: number }): unknown => (step.attempt === 1 ? fails()() : { log: 'a' });
    const two = plan({ nodes: [task('a', { retry }), 'b'], channels: ['log:append'] });
    const handle = startRun(two, { bindings: { a: once, b: logs('b') }, durable, concurrency: 1 });
    for (const key of ['a', 'b', 'a@backoff', 'a~2']) void durable.deliver(key);
    expect((await handle.result).outcome).toBe('succeeded');
    expect(durable.delivered).toEqual(['a', 'b', 'a@backoff', 'a~2']);
  });
});

describe('delays between attempts', () => {
  const overloaded = (retryAfterMs?: number) => (): never => {
    const more = retryAfterMs === undefined ? {} : { retryAfterMs };
    throw new SkeinError('SKEIN_STEP_FAILED', 'busy', { retryable: true, ...more });
  };

  async function delaysOf(jitter: number, body: () => never): Promise<number[]> {
    const retry = { retries: 3, backoff: 'exponential' as const, delayMs: 100, maxDelayMs: 250, jitter };
    const delays: number[] = [];
    const durable = new ManualDurable({ choose: () => 0 });
    const note = (event: SkeinEvent): void => {
      if (event.type === 'step.retrying') delays.push(event.delayMs);
    };
    await startRun(plan({ nodes: [task('a', { retry })] }), { bindings: { a: body }, durable, listeners: [note] })
      .result;
    return delays;
  }

  test("a provider's Retry-After replaces the computed delay, also beyond its upper bound", async () => {
    expect(await delaysOf(0, overloaded(1_234))).toEqual([1_234, 1_234, 1_234]);
    expect(await delaysOf(0, overloaded())).toEqual([100, 200, 250]);
  });

  test('jitter takes off at most its fraction, and is the same in every replay', async () => {
    const one = await delaysOf(0.5, overloaded());
    expect(await delaysOf(0.5, overloaded())).toEqual(one);
    expect(one).not.toEqual([100, 200, 250]);
    [100, 200, 250].forEach((full, at) => {
      expect(one[at]).toBeGreaterThanOrEqual(full / 2);
      expect(one[at]).toBeLessThanOrEqual(full);
    });
  });

  test('a failed sub-plan is tried again from its beginning; what failed before is neither counted nor told', async () => {
    const inner = plan({ nodes: ['first', 'second'], edges: ['first>second'], channels: ['log:append'] });
    const retry = { retries: 1, backoff: 'fixed' as const, delayMs: 1, on: 'any' as const };
    let tries = 0;
    const sub = { kind: 'call', id: 'sub', plan: inner, retry, outputs: { log: 'log' } } as const;
    const { result } = await run(plan({ nodes: [sub] }), {
      'sub/first': logs('first'),
      'sub/second': () => ((tries += 1) === 1 ? fails()() : { log: 'second' }),
    });
    expect(result).toMatchObject({ outcome: 'succeeded', state: { log: ['first', 'second'] } });
    expect(result.census).toMatchObject({ succeeded: 3, failed: 0 });
    expect(outcomes(result)['sub/second']).toBeUndefined();
  });
});
