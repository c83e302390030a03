import { describe, expect, test } from 'vitest';
import type { Condition } from '../../src/lang/values.js';
import type { PlanNode } from '../../src/plan/plan.js';
import { checkPlan } from '../../src/plan/checks.js';
import { fails, logs, outcomes, plan, run, task, writes } from './plans.js';

const LOG = ['log:append', 'n:add', 'verdict'];
const approved: Condition = { op: 'truthy', value: { channel: 'verdict' }, text: '$steps.qa.output' };

describe('E8: `ignore`', () => {
  const ignored = (id: string, more: Partial<PlanNode> = {}): PlanNode => task(id, { ...more, onError: 'ignore' });

  test('a live token goes on with what the failed step saw, and the run is degraded', async () => {
    const chain = plan({ nodes: ['a', ignored('b'), 'c'], edges: ['a>b', 'b>c'], channels: LOG });
    expect(checkPlan(chain)).toEqual([]);
    const { result, started } = await run(chain, { a: logs('a'), b: fails('broken'), c: logs('c') });
    expect(result.outcome).toBe('degraded');
    expect(result.error).toBeUndefined();
    expect(started).toEqual(['a', 'b', 'c']);
    expect(result.state.log).toEqual(['a', 'c']);
    expect(result.steps).toMatchObject([{ path: 'b', outcome: 'failed', error: { message: 'broken' } }]);
    expect(result.census).toMatchObject({ succeeded: 2, failed: 0, degraded: 1, skipped: 0 });
  });

  test('retries come first, and a timeout, an unusable result and a condition without value are ignored alike', async () => {
    let tries = 0;
    const chain = plan({
      nodes: [
        ignored('b', { retry: { retries: 2, backoff: 'fixed', delayMs: 0, on: 'any' } }),
        ignored('slow', { timeoutMs: 1 }),
        ignored('odd'),
        ignored('cond', { when: [approved] }),
        'c',
      ],
      edges: ['b>slow', 'slow>odd', 'odd>cond', 'cond>c'],
      channels: LOG,
    });
    const { result } = await run(chain, {
      b: () => {
        tries += 1;
        throw new Error('again');
      },
      slow: () => new Promise(() => undefined),
      odd: () => 7,
      cond: logs('cond'),
      c: logs('c'),
    });
    expect(tries).toBe(3);
    expect(outcomes(result)).toEqual({ b: 'failed', slow: 'timed_out', odd: 'failed', cond: 'failed' });
    expect([result.outcome, result.state.log]).toEqual(['degraded', ['c']]);
  });

  test('its routes choose as after a success without output', async () => {
    const value = { channel: 'verdict' };
    const forked = plan({
      nodes: ['a', ignored('b', { output: 'verdict' }), 'left', 'right', 'always'],
      edges: ['a>b', 'b>always'],
      routes: [
        { from: 'b', cases: [{ when: [{ op: 'equals', value, operand: [''] }], to: ['left'] }], otherwise: ['right'] },
        { from: 'b', choose: 'code', targets: ['left', 'right'] },
      ],
      channels: LOG,
    });
    const { result } = await run(forked, {
      a: logs('a'),
      b: fails(),
      left: logs('left'),
      right: logs('right'),
      always: logs('always'),
      'route:b': (state: { log: string[] }) => Promise.resolve(state.log.length === 1 ? 'END' : 'right'),
    });
    expect(result.state.log).toEqual(['a', 'left', 'always']);
  });

  test('where its routes fail nothing says where to go on: the run fails', async () => {
    const forked = plan({
      nodes: [ignored('b'), 'left'],
      routes: [{ from: 'b', choose: 'code', targets: ['left'] }],
      channels: LOG,
    });
    for (const b of [fails(), writes({})]) {
      let asked = 0;
      const choose = (): never => {
        asked += 1;
        throw new Error('lost');
      };
      const { result } = await run(forked, { b, left: logs('left'), 'route:b': choose });
      expect([result.outcome, result.error?.message, asked]).toEqual(['failed', 'lost', 1]);
      expect(result.census).toMatchObject({ succeeded: 0, failed: 1, degraded: 0 });
    }
  });

  test('a join takes its token for a live one; an exit ends its branch', async () => {
    const joined = plan({
      nodes: ['a', ignored('b'), task('j'), task('s', { join: 'settled' })],
      edges: ['a>j', 'b>j', 'j>s'],
      exits: ['b'],
      channels: LOG,
    });
    const open = { ...joined, exits: [] };
    const bindings = { a: logs('a'), b: fails(), j: logs('j'), s: logs('s') };
    expect((await run(open, bindings)).result.state.log).toEqual(['a', 'j', 's']);
    const { result } = await run({ ...joined, firstExitWins: true }, bindings, { order: ['b'] });
    expect([result.outcome, result.state]).toEqual(['degraded', {}]);
  });

  test('a step with a plan inside: what ran in it counts, what failed in it as allowed; what it wrote is gone', async () => {
    const inner = plan({ nodes: ['x', 'y'], edges: ['x>y'], channels: ['log:append'] });
    const outer = plan({
      nodes: [{ kind: 'call', id: 'sub', plan: inner, writes: ['log'], onError: 'ignore' }, 'c'],
      edges: ['sub>c'],
      channels: LOG,
    });
    const { result } = await run(outer, { 'sub/x': logs('x'), 'sub/y': fails(), c: logs('c') });
    expect([result.outcome, result.state.log]).toEqual(['degraded', ['c']]);
    expect(outcomes(result)).toEqual({ 'sub/y': 'failed', sub: 'failed' });
    expect(result.census).toMatchObject({ succeeded: 2, failed: 0, degraded: 2 });
  });
});
