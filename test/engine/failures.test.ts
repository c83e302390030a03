import { describe, expect, test } from 'vitest';
import { SkeinError } from 'skein';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import { ManualDurable } from '../../src/testing/index.js';
import { fails, logs, outcomes, plan, run, task, writes, type State } from './plans.js';

const LOG = ['log:append', 'a', 'seen'];

/** A body that ends only when its step is aborted, and then says so. */
function untilAborted(heard: string[], name: string) {
  return (_state: State, step: { signal: AbortSignal }): Promise<never> =>
    new Promise((_resolve, reject) => {
      step.signal.addEventListener('abort', () => {
        heard.push(name);
        reject(new Error('aborted'));
      });
    });
}

describe('failures', () => {
  test('E8: a failure ends the run at once: siblings are aborted, the rest is not run, the state so far is kept', async () => {
    const heard: string[] = [];
    const fan = plan({
      nodes: ['first', 'bad', 'slow', 'after'],
      edges: ['first>bad', 'first>slow', 'slow>after'],
      channels: LOG,
    });
    const { result } = await run(fan, {
      first: writes({ a: 1 }),
      bad: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        throw new TypeError('broken');
      },
      slow: untilAborted(heard, 'slow'),
      after: logs('after'),
    });
    expect(result.outcome).toBe('failed');
    expect(result.error).toMatchObject({ code: 'SKEIN_STEP_FAILED', message: 'broken', name: 'TypeError' });
    expect(heard).toEqual(['slow']);
    expect(result.state).toEqual({ a: 1 });
    expect(result.census).toMatchObject({ succeeded: 1, failed: 1, cancelled: 1, notRun: 1 });
  });

  test('E8: `continue` sends a dead token on; the run is degraded at best and keeps what was written', async () => {
    const chain = plan({ nodes: ['a', task('b', { onError: 'continue' }), 'c'], edges: ['a>b', 'b>c'], channels: LOG });
    const { result } = await run(chain, { a: logs('a'), b: fails(), c: logs('c') });
    expect(result.outcome).toBe('degraded');
    expect(result.error).toBeUndefined();
    expect(outcomes(result)).toEqual({ b: 'failed', c: 'skipped' });
    expect(result.state.log).toEqual(['a']);
    expect(result.census).toMatchObject({ succeeded: 1, failed: 0, degraded: 1, skipped: 1 });
  });

  test('E8: `skipDependents` skips every dependent, whatever its join and its other paths', async () => {
    const bad = task('bad', { onError: 'skipDependents' });
    for (const join of ['all', 'any', 'settled', { quorum: 1 }] as const) {
      const joined = plan({
        nodes: [bad, 'good', task('j', { join }), task('k', { join: 'settled' })],
        edges: ['bad>j', 'good>j', 'j>k'],
        channels: LOG,
      });
      const bindings = { bad: fails(), good: logs('good'), j: logs('j'), k: logs('k') };
      const { result } = await run(joined, bindings, { order: ['bad', 'good'] });
      expect(outcomes(result)).toEqual({ bad: 'failed', j: 'skipped', k: 'skipped' });
      expect(result.state.log).toEqual(['good']);
    }
  });

  test('E8: a handler is fired with the state that the failed step saw, and dependents get dead tokens', async () => {
    const handled = plan({
      nodes: ['a', task('bad', { onError: { to: 'rescue' } }), 'next', 'rescue'],
      edges: ['a>bad', 'bad>next'],
      channels: LOG,
    });
    const { result, started } = await run(handled, {
      a: writes({ a: 7 }),
      bad: fails(),
      next: logs('next'),
      rescue: (state: State) => ({ seen: state.a }),
    });
    expect(started).toEqual(['a', 'bad', 'rescue']);
    expect(result.outcome).toBe('degraded');
    expect(result.state.seen).toBe(7);
    expect(outcomes(result)).toEqual({ bad: 'failed', next: 'skipped' });
  });

  test('S4, E8: what a failed step saw is handed to its handler, and counts only as far as the handler does', async () => {
    const handled = plan({
      nodes: [task('bad', { onError: { to: 'rescue' } }), task('j', { join: 'any' }), 'other', 'up', 'rescue'],
      edges: ['up>bad', 'rescue>j', 'other>j'],
      channels: LOG,
    });
    const bindings = { up: logs('up'), bad: fails(), rescue: logs('rescue'), other: logs('other'), j: logs('j') };
    const order = ['other', 'j', 'up', 'bad', 'rescue'];
    const { result } = await run(handled, bindings, { order });
    expect(result.outcome).toBe('degraded');
    expect(result.state.log).toEqual(['other', 'j']);
  });

  test('S3: a handler before the failed step closes a cycle: what follows is folded after what was before', async () => {
    const handled = plan({
      nodes: ['up', 'draft', 'check', task('publish', { onError: { to: 'draft' } }), 'side'],
      edges: ['up>draft', 'draft>check', 'check>publish', 'up>side'],
      channels: LOG,
    });
    const publish = (state: State): unknown => ((state.log as string[]).length < 4 ? fails()() : { log: 'publish' });
    const bindings = { up: logs('up'), draft: logs('draft'), check: logs('check'), publish, side: logs('side') };
    const order = ['up', 'draft', 'check', 'publish', 'draft#2', 'check#2', 'publish#2', 'side'];
    const { result } = await run(handled, bindings, { order });
    expect(result.state.log).toEqual(['up', 'draft', 'check', 'side', 'draft', 'check', 'publish']);
  });

  test('E8: a handler that is not needed does not run', async () => {
    const nodes = [task('a', { onError: { to: 'rescue' } }), 'rescue'];
    const { result } = await run(plan({ nodes, channels: LOG }), { a: logs('a'), rescue: logs('rescue') });
    expect(result.state.log).toEqual(['a']);
    expect(result.census).toMatchObject({ succeeded: 1, notRun: 1 });
  });

  test('S3, E8: a step whose route fails has failed, and has written nothing', async () => {
    const bad = plan({
      nodes: [task('a', { onError: 'continue' }), 'b'],
      channels: ['a'],
      routes: [{ from: 'a', choose: 'code', targets: ['b'] }],
    });
    const bindings = { a: writes({ a: 1 }), b: writes({ a: 2 }), 'route:a': () => 'elsewhere' };
    const { result } = await run(bad, bindings);
    expect(outcomes(result)).toEqual({ a: 'failed', b: 'skipped' });
    expect(result.state).toEqual({});
  });

  test('E2: a settled node sees the failures before it as values', async () => {
    const seen = plan({
      nodes: [task('bad', { onError: 'continue' }), 'good', task('report', { join: 'settled' })],
      edges: ['bad>report', 'good>report'],
      channels: LOG,
    });
    type Arrivals = {
      readonly arrivals: readonly { readonly from: string; readonly error?: { readonly message: string } }[];
    };
    const report = (_state: State, step: Arrivals): Record<string, unknown> => ({
      seen: step.arrivals.map(({ from, error }) => [from, error?.message ?? null]),
    });
    const { result } = await run(seen, { bad: fails('why'), good: logs('good'), report });
    expect(result.state.seen).toEqual([
      ['bad', 'why'],
      ['good', null],
    ]);
  });

  test('E10: a skipped, failed or successful step is told by its outcome, and a thrown non-error is a failure too', async () => {
    const odd = plan({ nodes: ['a'], channels: LOG });
    for (const thrown of ['text', null, { code: 'SKIP' }]) {
      const { result } = await run(odd, {
        a: () => AbortSignal.abort(thrown).throwIfAborted(),
      });
      expect(result.outcome).toBe('failed');
      expect(result.error?.code).toBe('SKEIN_STEP_FAILED');
    }
  });
});

describe('policies', () => {
  /** Runs one node whose tickets all come in the order of time, and gives the events with the times of its attempts. */
  async function timed(node: Parameters<typeof task>[1], body: unknown, bindings: Record<string, unknown> = {}) {
    const durable = new ManualDurable({ choose: () => 0, startAt: 0 });
    const events: SkeinEvent[] = [];
    const attempts: number[] = [];
    const counted = (...given: [State, { attempt: number; signal: AbortSignal }]): unknown => {
      attempts.push(durable.now());
      return (body as (...all: typeof given) => unknown)(...given);
    };
    const thePlan = plan({ nodes: [task('a', node)], channels: LOG });
    const all = { a: counted, ...bindings };
    const result = await startRun(thePlan, { bindings: all, durable, listeners: [(e) => events.push(e)] }).result;
    return { result, events, attempts };
  }

  test('retry: so many attempts more, with fixed, linear and exponential delays up to the limit', async () => {
    const delays = {
      fixed: [0, 100, 200, 300],
      linear: [0, 100, 300, 600],
      exponential: [0, 100, 300, 700],
    } as const;
    for (const backoff of ['fixed', 'linear', 'exponential'] as const) {
      const retry = { retries: 3, backoff, delayMs: 100, on: 'any' as const };
      const { result, attempts } = await timed({ retry }, fails());
      expect(result.error?.message).toBe('no');
      expect(attempts).toEqual(delays[backoff]);
    }
    const retry = { retries: 3, backoff: 'exponential' as const, delayMs: 100, maxDelayMs: 150, on: 'any' as const };
    expect((await timed({ retry }, fails())).attempts).toEqual([0, 100, 250, 400]);
  });

  test('retry: ends with the first success; failed attempts are no failed steps', async () => {
    const retry = { retries: 5, backoff: 'fixed' as const, delayMs: 10, on: 'any' as const };
    const body = (_state: State, step: { attempt: number }): Record<string, unknown> => {
      if (step.attempt < 3) throw new Error('not yet');
      return { a: step.attempt };
    };
    const { result, events } = await timed({ retry }, body);
    expect(result.outcome).toBe('succeeded');
    expect(result.state.a).toBe(3);
    expect(result.census).toMatchObject({ succeeded: 1, failed: 0, degraded: 0 });
    expect(events.filter((event) => event.type === 'step.retrying')).toHaveLength(2);
  });

  test('retry: by default only what may go away; `on` names codes and parts of messages', async () => {
    const base = { retries: 1, backoff: 'fixed' as const, delayMs: 1 };
    expect((await timed({ retry: base }, fails())).attempts).toHaveLength(2);
    const wrong = (): never => {
      throw new SkeinError('SKEIN_INPUT', 'no');
    };
    expect((await timed({ retry: base }, wrong)).attempts).toHaveLength(1);
    expect((await timed({ retry: { ...base, on: ['busy'] } }, fails('server is busy'))).attempts).toHaveLength(2);
    expect((await timed({ retry: { ...base, on: ['BUSY', 'x'] } }, fails('Server is Busy'))).attempts).toHaveLength(2);
    expect((await timed({ retry: { ...base, on: ['busy'] } }, fails('broken'))).attempts).toHaveLength(1);
    expect((await timed({ retry: { ...base, on: ['SKEIN_STEP_FAILED'] } }, fails())).attempts).toHaveLength(2);
  });

  test('timeout: each attempt has its own, and is aborted; the step then is timed out', async () => {
    const heard: string[] = [];
    const durable = new ManualDurable({
      startAt: 0,
      choose: (offered) => offered.findIndex((one) => one.kind === 'timer'),
    });
    const retry = { retries: 1, backoff: 'fixed' as const, delayMs: 50 };
    const slow = plan({ nodes: [task('a', { timeoutMs: 1_000, retry })], channels: LOG });
    const handle = startRun(slow, { bindings: { a: untilAborted(heard, 'a') }, durable });
    const result = await handle.result;
    expect(heard).toEqual(['a', 'a']);
    expect(result.error?.code).toBe('SKEIN_TIMEOUT');
    expect(result.census).toMatchObject({ timed_out: 1, failed: 0 });
    expect(durable.now()).toBe(2_050);
  });

  test('order of policies: `when` is asked once before the attempts, onError after the last', async () => {
    let asked = 0;
    const retry = { retries: 2, backoff: 'fixed' as const, delayMs: 1, on: 'any' as const };
    const node = { retry, onError: 'continue' as const, when: [{ op: 'code' as const }] };
    const { result, attempts } = await timed(node, fails(), { 'when:a': () => ((asked += 1), true) });
    expect(asked).toBe(1);
    expect(attempts).toHaveLength(3);
    expect(result.census).toMatchObject({ failed: 0, degraded: 1 });
  });
});

describe('cancellation', () => {
  test.each(['handle', 'signal'] as const)(
    'by %s: running steps are aborted, the run is closed as cancelled',
    async (by) => {
      const heard: string[] = [];
      const controller = new AbortController();
      const two = plan({ nodes: ['a', 'b', 'c'], edges: ['a>c'], channels: LOG });
      const bindings = { a: untilAborted(heard, 'a'), b: untilAborted(heard, 'b'), c: logs('c') };
      const handle = startRun(two, { bindings, signal: controller.signal });
      await new Promise((resolve) => setImmediate(resolve));
      if (by === 'handle') handle.cancel('enough');
      else controller.abort();
      const result = await handle.result;
      expect(heard.toSorted()).toEqual(['a', 'b']);
      expect(result.outcome).toBe('cancelled');
      expect(result.census).toMatchObject({ cancelled: 2, notRun: 1 });
    },
  );
});
