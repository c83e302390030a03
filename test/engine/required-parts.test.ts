import { describe, expect, test } from 'vitest';
import { checkPlan } from '../../src/index.js';
import type { PlanNode, Require } from '../../src/plan/plan.js';
import { fails, logs, outcomes, plan, run, task } from './plans.js';

/** Three branches side by side, the first of two nodes; their words come out of the block. */
const block = (require: Require, more: object = {}): PlanNode => ({
  id: 'group',
  kind: 'call',
  plan: plan({ nodes: ['a1', 'a2', 'b', 'c'], edges: ['a1>a2'], channels: ['log:append'] }),
  outputs: { words: 'log' },
  writes: ['words'],
  require,
  ...more,
});
const around = (node: PlanNode) =>
  plan({ nodes: [node, 'after'], edges: ['group>after'], channels: ['words', 'log:append'] });
const bodies = (broken: readonly string[]) => ({
  ...Object.fromEntries(
    ['a1', 'a2', 'b', 'c'].map((id) => [`group/${id}`, broken.includes(id) ? fails(`${id} broke`) : logs(id)]),
  ),
  after: logs('after'),
});

describe('[addition 10] require of a group', () => {
  test('lets failures cancel nobody, and degrades the run where enough branches succeeded', async () => {
    const order = ['group/c', 'group/a1', 'group/b', 'group/a2', 'after'];
    const { result } = await run(around(block(2)), bodies(['c']), { order });
    expect(result.outcome).toBe('degraded');
    expect(result.state).toEqual({ words: ['a1', 'a2', 'b'], log: ['after'] });
    expect(result.census).toMatchObject({ degraded: 1, failed: 0, cancelled: 0 });
  });

  test('fails the block when all have ended, with what failed and how many succeeded', async () => {
    const { result } = await run(around(block(2)), bodies(['c', 'a1']));
    expect(result.outcome).toBe('failed');
    expect(result.error?.code).toBe('SKEIN_REQUIRE');
    expect(result.error?.message).toBe('1 branch succeeded, and 2 must: group/a1: a1 broke; group/c: c broke');
    expect(result.error?.details).toEqual({
      failures: [
        { path: 'group/a1', code: 'SKEIN_STEP_FAILED', message: 'a1 broke' },
        { path: 'group/c', code: 'SKEIN_STEP_FAILED', message: 'c broke' },
      ],
    });
    expect(outcomes(result)).toMatchObject({ 'group/a1': 'failed', 'group/a2': 'skipped', group: 'failed' });
    expect(result.census.degraded).toBe(0);
  });

  test('all: any failure fails the block, when the others have ended', async () => {
    const { result, started } = await run(around(block('all')), bodies(['b']), {
      order: ['group/b', 'group/a1', 'group/c', 'group/a2'],
    });
    expect([result.outcome, result.error?.code]).toEqual(['failed', 'SKEIN_REQUIRE']);
    expect(started).toEqual(['group', 'a1', 'b', 'c', 'a2']);
    expect((await run(around(block('all')), bodies([]))).result.outcome).toBe('succeeded');
  });

  test('is tried again as a whole by a retry, and may be allowed to fail', async () => {
    let tries = 0;
    const flaky = { ...bodies([]), 'group/b': () => (++tries < 2 ? fails()() : { log: 'b' }) };
    const retry = { retries: 1, delayMs: 0, backoff: 'fixed', on: 'any' };
    const again = await run(around(block('all', { retry })), flaky);
    expect([again.result.outcome, tries]).toEqual(['succeeded', 2]);
    const allowed = await run(around(block('all', { onError: 'ignore' })), bodies(['b']));
    expect([allowed.result.outcome, allowed.result.state['log']]).toEqual(['degraded', ['after']]);
  });

  test('counts what was skipped, or failed as it may, for no success', async () => {
    const inner = (more: object) => plan({ nodes: [task('a', more), 'b'], channels: ['log:append', 'x'] });
    const group = (more: object): PlanNode => ({
      id: 'group',
      kind: 'call',
      plan: inner(more),
      writes: [],
      require: 2,
    });
    const given = { 'group/a': fails(), 'group/b': logs('b'), after: logs('after') };
    for (const more of [{ onError: 'ignore' }, { when: [{ op: 'truthy', value: { channel: 'x' } }] }]) {
      const { result } = await run(around(group(more)), given);
      expect(result.error?.message).toContain('1 branch succeeded, and 2 must');
    }
  });

  const map = (require: Require, more: object = {}): PlanNode => ({
    id: 'each',
    kind: 'map',
    plan: plan({
      inputs: [{ name: 'item', channel: 'item', required: true }],
      nodes: [task('work', { output: 'r' })],
      channels: ['r'],
    }),
    over: { channel: 'list' },
    item: 'item',
    result: 'r',
    maxItems: 9,
    output: 'all',
    require,
    ...more,
  });
  const mapping = (node: PlanNode) =>
    plan({ inputs: [{ name: 'list', channel: 'list', required: true }], nodes: [node] });
  const work = {
    'each/work': ({ item }: { item: number }) => {
      if (item < 0) throw new Error(`no ${item}`);
      return item * 2;
    },
  } as Record<string, unknown>;
  const over = async (node: PlanNode, list: readonly number[]) =>
    (await run(mapping(node), work, { inputs: { list } })).result;

  test('counts the items of a map; failed ones are left out, or null', async () => {
    const degraded = await over(map(2), [1, -1, 3]);
    expect([degraded.outcome, degraded.state['all'], degraded.census.degraded]).toEqual(['degraded', [2, 6], 1]);
    const nulls = await over(map(2, { onItemError: 'continue' }), [1, -1, 3]);
    expect(nulls.state['all']).toEqual([2, null, 6]);
    const failed = await over(map(2), [-1, -2, 3]);
    expect(failed.error?.message).toBe('1 item succeeded, and 2 must: each[0]: no -1; each[1]: no -2');
    expect([failed.census.failed, failed.census.degraded]).toEqual([3, 0]);
    expect((await over(map('all'), [])).outcome).toBe('succeeded');
  });

  test('[require above the number of items] fails a map whose list is shorter', async () => {
    const failed = await over(map(3), [1, 2]);
    expect([failed.outcome, failed.error?.message]).toEqual(['failed', '2 items succeeded, and 3 must']);
  });

  test('[bad-require] is reported for more than there can be, and beside its opposite', () => {
    const codes = (node: PlanNode) =>
      checkPlan(plan({ inputs: [{ name: 'list', channel: 'list', required: true }], nodes: [node] }))
        .filter(({ code }) => code === 'bad-require')
        .map(({ message }) => message);
    expect(codes(map(10))).toEqual(['"each" requires 10 items, and has 9 at most']);
    expect(codes(map(2, { onItemError: 'fail' }))).toHaveLength(1);
    expect(codes(block(4))).toEqual(['"group" requires 4 branches, and has 3 at most']);
    expect([...codes(block(3)), ...codes(block('all')), ...codes(map(9))]).toEqual([]);
  });
});
