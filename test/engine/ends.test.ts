import { describe, expect, test } from 'vitest';
import { checkPlan, definePlan, run as runPlan } from '../../src/index.js';
import type { PlanNode } from '../../src/plan/plan.js';
import { fails, logs, outcomes, plan, run, task } from './plans.js';

const LOG = ['log:append'];
const listed = (word: string) => () => ({ log: [word] });
const later = (word: string) => async () => {
  await new Promise((next) => setImmediate(next));
  return { log: word };
};
const words = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, logs(name)]));
const end = (more: object = {}): PlanNode => ({ id: 'stop', kind: 'end', ...more });

/** `a`, then the end and `slow` side by side; `after` comes behind `slow`. */
const forked = (more: object = {}) =>
  plan({
    nodes: ['a', 'slow', end(more), 'after'],
    edges: ['a>stop', 'a>slow', 'slow>after'],
    channels: LOG,
  });

describe('[addition 9] a node that ends its plan', () => {
  test('cancels what still runs; the state is what it saw, whatever else had ended', async () => {
    const bindings = words('a', 'slow', 'after');
    const { result } = await run(forked({ reason: ['nothing to do'] }), bindings, { order: ['a', 'slow', 'after'] });
    expect(result.outcome).toBe('succeeded');
    expect(result.state).toEqual({ log: ['a'] });
    expect(result.census).toMatchObject({ succeeded: 2, cancelled: 1, notRun: 1 });
    expect(result.steps.find(({ path }) => path === 'stop')).toEqual({
      path: 'stop',
      node: 'stop',
      outcome: 'succeeded',
      reason: 'nothing to do',
    });
  });

  test('is named by the steps that it cut off', async () => {
    const inner = plan({ nodes: ['x'], channels: LOG });
    const call: PlanNode = { id: 'call', kind: 'call', plan: inner, writes: [] };
    const cut = plan({ nodes: ['a', 'slow', call, end()], edges: ['a>stop', 'a>slow'], channels: LOG });
    const never = () => new Promise<never>(() => undefined);
    const { steps } = await runPlan({ plan: cut, bindings: { a: later('a'), slow: never, 'call/x': never } }).result;
    const why = Object.fromEntries(steps.map(({ path, reason }) => [path, reason]));
    expect(why).toMatchObject({
      slow: 'cut off by the end at stop',
      call: 'cut off by the end at stop',
      'call/x': 'cut off by the end at stop',
    });
  });

  test('fails the run with its reason as the message; the state is the same', async () => {
    const node = end({ status: 'failed', reason: ['log: ', { channel: 'log' }] });
    const failed = plan({ nodes: ['a', node], edges: ['a>stop'], channels: LOG });
    const { result } = await run(failed, words('a'));
    expect(result.outcome).toBe('failed');
    expect(result.error).toEqual({ code: 'SKEIN_ENDED', message: 'log: ["a"]', retryable: false });
    expect(result.state).toEqual({ log: ['a'] });
    expect(result.census).toMatchObject({ succeeded: 1, failed: 1 });
  });

  test('has a message of its own without a reason', async () => {
    const { result } = await run(plan({ nodes: [end({ status: 'failed' })] }), {});
    expect(result.error?.message).toBe("the workflow ended at 'stop'");
  });

  test('is not caught by onError or retry of what it stands in', async () => {
    const inner = plan({
      nodes: ['a', end({ status: 'failed', reason: ['no'], out: 1 })],
      edges: ['a>stop'],
      channels: LOG,
    });
    for (const onError of ['continue', 'ignore', 'settle', { to: 'after' }] as const) {
      const call: PlanNode = {
        id: 'call',
        kind: 'call',
        plan: inner,
        writes: ['log'],
        onError,
        retry: { retries: 3, delayMs: 0, backoff: 'fixed', on: 'any' },
      };
      const outer = plan({ nodes: [call, 'after'], edges: ['call>after'], channels: ['log:extend'] });
      const { result, started } = await run(outer, { 'call/a': logs('a'), after: listed('after') });
      expect([result.outcome, result.error?.code]).toEqual(['failed', 'SKEIN_ENDED']);
      expect(started).toEqual(['call', 'a', 'stop']);
      expect(result.state).toEqual({ log: ['a'] });
      expect(outcomes(result)).toEqual({ 'call/stop': 'failed', call: 'cancelled' });
    }
  });

  test('ends its own plan only where nothing else is said, and that one failing may be allowed', async () => {
    const inner = plan({ nodes: ['a', end({ status: 'failed' }), 'b'], edges: ['a>stop', 'a>b'], channels: LOG });
    const call: PlanNode = { id: 'call', kind: 'call', plan: inner, writes: ['log'], onError: 'ignore' };
    const outer = plan({ nodes: [call, 'after'], edges: ['call>after'], channels: ['log:extend'] });
    const { result } = await run(outer, { 'call/a': logs('a'), 'call/b': logs('b'), after: listed('after') });
    expect(result.outcome).toBe('degraded');
    expect(result.state).toEqual({ log: ['after'] });
  });

  test('gives what its plan wrote to the plan around it where it ends well', async () => {
    const inner = plan({ nodes: ['a', end(), 'b'], edges: ['a>stop', 'a>b'], channels: LOG });
    const call: PlanNode = { id: 'call', kind: 'call', plan: inner, writes: ['log'] };
    const outer = plan({ nodes: [call, 'after'], edges: ['call>after'], channels: ['log:extend'] });
    const { result } = await run(outer, { 'call/a': logs('a'), 'call/b': logs('b'), after: listed('after') });
    expect(result.outcome).toBe('succeeded');
    expect(result.state).toEqual({ log: ['a', 'after'] });
  });

  test('in an item of a map or a round of a loop ends as many plans as it says', async () => {
    const inner = (out: number) => plan({ inputs: [], nodes: [end({ out }), 'rest'], channels: ['item', 'r'] });
    const map = (out: number): PlanNode => ({
      id: 'each',
      kind: 'map',
      plan: { ...inner(out), inputs: [{ channel: 'item', name: 'item', required: true }] },
      over: { channel: 'list' },
      item: 'item',
      result: 'r',
      maxItems: 9,
      output: 'all',
    });
    const loop = (out: number): PlanNode => ({
      id: 'each',
      kind: 'loop',
      plan: inner(out),
      until: [{ op: 'code' }],
      maxRounds: 2,
      writes: [],
    });
    for (const node of [map, loop]) {
      const of = (out: number) =>
        plan({
          nodes: [task('list', { output: 'list' }), node(out), 'after'],
          edges: ['list>each', 'each>after'],
          channels: LOG,
        });
      const bindings = {
        list: () => [1, 2],
        'each/rest': () => ({}),
        'until:each': (_: unknown, round: unknown) => round === 2,
        after: logs('after'),
      };
      const own = await run(of(0), bindings);
      expect(own.result.state).toMatchObject({ log: ['after'] });
      const whole = await run(of(1), bindings);
      expect([whole.result.outcome, whole.result.state['log']]).toEqual(['succeeded', undefined]);
      expect(outcomes(whole.result)['each']).toBe('cancelled');
    }
  });

  test('ends the run however many plans it names', async () => {
    const { result } = await run(plan({ nodes: [end({ out: 7 })] }), {});
    expect(result.outcome).toBe('succeeded');
  });

  test('does not make up for a failure: the first of the two to come counts', async () => {
    const both = plan({ nodes: [task('bad'), 'a', end()], edges: ['a>stop'], channels: LOG });
    const bindings = { bad: fails('broken'), a: logs('a') };
    const failedFirst = await run(both, bindings, { order: ['bad', 'a'] });
    expect(failedFirst.result.error?.message).toBe('broken');
    const endedFirst = await run(both, bindings, { order: ['a', 'bad'] });
    expect(endedFirst.result.outcome).toBe('succeeded');
  });

  test('is written by hand with a text', async () => {
    const { plan: mine, bindings } = definePlan({
      name: 'p',
      inputs: ['why'],
      nodes: [{ id: 'stop', kind: 'end', status: 'failed', reason: 'because of {{ why }}' }],
    });
    expect(checkPlan(mine, bindings)).toEqual([]);
    const { error } = await runPlan({ plan: mine, bindings }, { inputs: { why: 'rain' } }).result;
    expect(error?.message).toBe('because of rain');
  });

  test('leads nowhere, unless it may be skipped', () => {
    const after = (more: object) => checkPlan(plan({ nodes: [end(more), 'a'], edges: ['stop>a'] }));
    expect(after({}).map(({ code, severity }) => [code, severity])).toEqual([['unreachable-node', 'error']]);
    expect(after({ when: [{ op: 'truthy', value: { channel: 'x' } }] }).map(({ code }) => code)).not.toContain(
      'unreachable-node',
    );
  });

  test('spends nothing and gives nothing to judge', () => {
    const node = end({ budget: { calls: 1 }, supervise: { by: 'model' } });
    expect(checkPlan(plan({ nodes: [node] })).map(({ code }) => code)).toEqual(['bad-supervision', 'bad-budget']);
  });
});
