import { describe, expect, test } from 'vitest';
import { logs, outcomes, plan, run, task, type State } from './plans.js';

const LOG = ['log:append', 'n:add', 'seen'];

describe('E4: release of joins that would starve', () => {
  /** The second round of the cycle reaches `j` from `x` only; `y` is outside of the cycle. */
  const halfCycle = plan({
    nodes: ['x', 'y', 'j'],
    edges: ['x>j', 'y>j'],
    channels: LOG,
    entry: 'x',
    routes: [{ from: 'j', choose: 'code', targets: ['x', 'END'] }],
  });
  const bindings = {
    x: logs('x'),
    y: logs('y'),
    j: () => ({ log: 'j', n: 1 }),
    'route:j': (state: State) => (Number(state.n) < 2 ? 'x' : 'END'),
  };

  test('a partly filled join fires with what it has, and a warning says so', async () => {
    const { result, events } = await run(halfCycle, bindings);
    expect(result.outcome).toBe('succeeded');
    expect(result.state.log).toEqual(['x', 'y', 'j', 'x', 'j']);
    expect(events.filter((event) => event.type === 'run.warning')).toHaveLength(1);
  });

  test('not while something still runs', async () => {
    const { events } = await run(halfCycle, bindings, { order: ['x', 'y', 'j', 'x#2', 'j#2'] });
    const warning = events.findIndex((event) => event.type === 'run.warning');
    const ended = events.findLastIndex((event) => event.type === 'step.ended' && event.node === 'x');
    expect(warning).toBeGreaterThan(ended);
  });

  /** The hub may go anywhere, so nothing of the rest is reachable by itself, and `never` does not start. */
  const anywhere = { entry: 'hub', routes: [{ from: 'hub', choose: 'code' as const }], channels: LOG };

  test('the earliest join in plan order is released first, then the next', async () => {
    const two = plan({
      ...anywhere,
      nodes: ['late', 'early', 'hub', 'p', 'q', 'never'],
      edges: ['p>early', 'q>late', 'never>early', 'never>late'],
    });
    const words = ['late', 'early', 'hub', 'p', 'q', 'never'];
    const { result, started, events } = await run(two, {
      ...Object.fromEntries(words.map((word) => [word, logs(word)])),
      'route:hub': () => ['p', 'q'],
    });
    expect(started).toEqual(['hub', 'p', 'q', 'late', 'early']);
    expect(events.filter((event) => event.type === 'run.warning')).toHaveLength(2);
    expect(result.census).toMatchObject({ succeeded: 5, notRun: 1 });
  });

  test('a released `all` with dead tokens only is skipped, a released `settled` runs', async () => {
    const bodies = { hub: logs('hub'), b: logs('b'), j: logs('j'), never: logs('never') };
    const rules = { 'route:hub': () => 'b', 'when:b': () => false };
    for (const join of ['all', 'settled'] as const) {
      const nodes = ['hub', task('b', { when: [{ op: 'code' }] }), task('j', { join }), 'never'];
      const { result } = await run(plan({ ...anywhere, nodes, edges: ['b>j', 'never>j'] }), { ...bodies, ...rules });
      expect(outcomes(result)).toEqual(join === 'all' ? { b: 'skipped', j: 'skipped' } : { b: 'skipped' });
      expect(result.state.log).toEqual(join === 'all' ? ['hub'] : ['hub', 'j']);
    }
  });
});
