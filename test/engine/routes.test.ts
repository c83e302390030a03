import { describe, expect, test } from 'vitest';
import { logs, outcomes, plan, run, task, writes, type State } from './plans.js';

const LOG = ['log:append', 'n:add', 'word', 'seen'];
const words = (...names: string[]): Record<string, () => Record<string, unknown>> =>
  Object.fromEntries(names.map((name) => [name, logs(name)]));

describe('routes and cycles', () => {
  test('E3: a route takes what it chose; the others are skipped, and what hangs on them', async () => {
    const fork = plan({
      nodes: ['a', 'left', 'right', 'after', 'end'],
      edges: ['right>after', 'left>end', 'after>end'],
      channels: LOG,
      routes: [{ from: 'a', choose: 'code', targets: ['left', 'right'] }],
    });
    const { result } = await run(fork, { ...words('a', 'left', 'right', 'after', 'end'), 'route:a': () => 'left' });
    expect(result.state.log).toEqual(['a', 'left', 'end']);
    expect(outcomes(result)).toEqual({ right: 'skipped', after: 'skipped' });
  });

  test('E3: a chooser sees what its own step wrote, may choose several, and may answer in words of its own', async () => {
    const fork = plan({
      nodes: ['a', 'b', 'c', 'd'],
      channels: LOG,
      routes: [{ from: 'a', choose: 'code', map: { yes: 'b', maybe: 'c', no: 'd' }, targets: ['b', 'c', 'd'] }],
    });
    const { result, events } = await run(fork, {
      ...words('b', 'c', 'd'),
      a: writes({ word: 'both' }),
      'route:a': (state: State) => (state.word === 'both' ? ['yes', 'maybe'] : 'no'),
    });
    expect(result.state.log).toEqual(['b', 'c']);
    expect(outcomes(result)).toEqual({ d: 'skipped' });
    const chosen = events.flatMap((event) => (event.type === 'step.ended' && 'to' in event ? [event.to] : []));
    expect(chosen).toEqual([['b', 'c']]);
  });

  test('E3: cases are tried in order, all conditions of a case must hold, `otherwise` is the rest', async () => {
    const value = { channel: 'word' };
    const fork = plan({
      nodes: ['a', 'b', 'c', 'd'],
      channels: LOG,
      routes: [
        {
          from: 'a',
          cases: [
            {
              when: [
                { op: 'contains', value, operand: ['x'] },
                { op: 'contains', value, operand: ['y'] },
              ],
              to: ['b'],
            },
            { when: [{ op: 'contains', value, operand: ['x'] }], to: ['c'] },
          ],
          otherwise: ['d'],
        },
      ],
    });
    for (const [word, taken] of [
      ['xy', 'b'],
      ['x', 'c'],
      ['y', 'd'],
    ]) {
      const { result } = await run(fork, { ...words('b', 'c', 'd'), a: writes({ word }) });
      expect(result.state.log).toEqual([taken]);
      expect(result.census.skipped).toBe(2);
    }
  });

  test('E3: END and nothing end the branch, with dead tokens to every declared target', async () => {
    const fork = plan({
      nodes: ['a', 'b'],
      channels: LOG,
      routes: [{ from: 'a', choose: 'code', targets: ['b', 'END'] }],
    });
    for (const answer of ['END', []]) {
      const { result } = await run(fork, { ...words('a', 'b'), 'route:a': () => answer });
      expect(result.state.log).toEqual(['a']);
      expect(outcomes(result)).toEqual({ b: 'skipped' });
    }
  });

  test('E3: choosing what is no declared target fails the step', async () => {
    const fork = plan({
      nodes: ['a', 'b', 'c'],
      channels: LOG,
      routes: [{ from: 'a', choose: 'code', targets: ['b', 'c'] }],
    });
    const { result } = await run(fork, { ...words('a', 'b', 'c'), 'route:a': () => 'elsewhere' });
    expect(result.outcome).toBe('failed');
    expect(result.error?.code).toBe('SKEIN_BAD_ROUTE');
    expect(result.error?.message).toContain('elsewhere');
  });

  test('a static edge beside a route always fires', async () => {
    const both = plan({
      nodes: ['a', 'always', 'b', 'c'],
      edges: ['a>always'],
      channels: LOG,
      routes: [{ from: 'a', choose: 'code', targets: ['b', 'c'] }],
    });
    const { result } = await run(both, { ...words('a', 'always', 'b', 'c'), 'route:a': () => 'c' });
    expect(result.state.log).toEqual(['a', 'always', 'c']);
  });

  test('E3: a token on an edge that closes a cycle fires the node by itself and begins a new visit', async () => {
    const cycle = plan({
      nodes: ['start', 'work', 'check', 'done'],
      edges: ['start>work', 'work>check'],
      channels: LOG,
      routes: [{ from: 'check', choose: 'code', targets: ['work', 'done'] }],
    });
    const bindings = {
      ...words('start', 'work', 'done'),
      check: writes({ log: 'check', n: 1 }),
      'route:check': (state: State) => (Number(state.n) < 3 ? 'work' : 'done'),
    };
    const { result, events } = await run(cycle, bindings);
    const round = ['work', 'check'];
    expect(result.state.log).toEqual(['start', ...round, ...round, ...round, 'done']);
    const visits = events.flatMap((event) =>
      event.type === 'step.started' && event.node === 'work' ? [event.visit] : [],
    );
    expect(visits).toEqual([1, 2, 3]);
    expect(result.census).toMatchObject({ succeeded: 8, notRun: 0 });
  });

  test('a route without declared targets may choose any node, which is fired by itself', async () => {
    const free = plan({
      nodes: ['a', 'b', 'c'],
      edges: ['b>c'],
      channels: LOG,
      entry: 'a',
      routes: [{ from: 'a', choose: 'code' }],
    });
    const { result } = await run(free, { ...words('a', 'b', 'c'), 'route:a': () => 'c' });
    expect(result.state.log).toEqual(['a', 'c']);
    expect(result.census).toMatchObject({ succeeded: 2, skipped: 0, notRun: 1 });
  });

  test('maxVisits: fail, skip, or go on at another node', async () => {
    const cycle = (onMaxVisits: 'fail' | 'skip' | { to: string }) =>
      plan({
        nodes: [task('work', { maxVisits: 2, onMaxVisits }), 'check', 'rescue'],
        edges: ['work>check'],
        channels: LOG,
        entry: 'work',
        routes: [{ from: 'check', choose: 'code', targets: ['work'] }],
      });
    const bindings = { ...words('work', 'check', 'rescue'), 'route:check': () => 'work' };
    const twice = ['work', 'check', 'work', 'check'];
    const failed = await run(cycle('fail'), bindings);
    expect(failed.result.error?.code).toBe('SKEIN_MAX_VISITS');
    const skipped = await run(cycle('skip'), bindings);
    expect(skipped.result.outcome).toBe('succeeded');
    expect(skipped.result.state.log).toEqual(twice);
    const rescued = await run(cycle({ to: 'rescue' }), bindings);
    expect(rescued.result.state.log).toEqual([...twice, 'rescue']);
  });

  test('maxVisits: nodes at their caps that hand over to one another fail the run', async () => {
    const round = plan({
      nodes: [
        task('a', { maxVisits: 1, onMaxVisits: { to: 'b' } }),
        task('b', { maxVisits: 1, onMaxVisits: { to: 'a' } }),
        'check',
      ],
      edges: ['a>check'],
      entry: 'a',
      routes: [
        { from: 'check', choose: 'code', targets: ['a'] },
        { from: 'b', choose: 'code', targets: ['a'] },
      ],
    });
    const back = (): string => 'a';
    const { result } = await run(round, {
      a: writes({}),
      b: writes({}),
      check: writes({}),
      'route:check': back,
      'route:b': back,
    });
    expect(result.error?.code).toBe('SKEIN_MAX_VISITS');
  });

  test('maxSteps counts how many nodes ran one after another, so width is free', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const wide = plan({ nodes: names, channels: LOG, limits: { maxSteps: 1 } });
    expect((await run(wide, words(...names))).result.outcome).toBe('succeeded');
    const edges = names.slice(1).map((name, index) => `${names[index] ?? ''}>${name}`);
    const exact = plan({ nodes: names, edges, channels: LOG, limits: { maxSteps: 20 } });
    expect((await run(exact, words(...names))).result.outcome).toBe('succeeded');
    const short = plan({ nodes: names, edges, channels: LOG, limits: { maxSteps: 19 } });
    const { result } = await run(short, words(...names));
    expect(result.error?.code).toBe('SKEIN_MAX_STEPS');
    expect(result.state.log).toHaveLength(19);
    const one = plan({ nodes: names, edges, channels: LOG, limits: { maxSteps: 1 } });
    expect((await run(one, words(...names))).result.error?.message).toMatch(/^more than 1 node ran /);
  });

  test('E6: without an entry every node without in-edges starts; with one, it and what its path depends on', async () => {
    const short = { nodes: ['a', 'b', 'c', 'lonely'], edges: ['a>c', 'b>c'], channels: LOG };
    const all = await run(plan(short), words('a', 'b', 'c', 'lonely'));
    expect(all.started).toEqual(['a', 'b', 'lonely', 'c']);
    const entered = await run(plan({ ...short, entry: 'a' }), words('a', 'b', 'c', 'lonely'));
    expect(entered.started).toEqual(['a', 'b', 'c']);
    expect(entered.result.census.notRun).toBe(1);
  });

  test('E7: an exit ends its own branch; firstExitWins ends the run', async () => {
    const short = { nodes: ['a', 'quick', 'slow', 'after'], edges: ['a>quick', 'a>slow', 'slow>after'], channels: LOG };
    const bindings = words('a', 'quick', 'slow', 'after');
    const order = ['a', 'quick', 'slow', 'after'];
    const own = await run(plan({ ...short, exits: ['quick'] }), bindings, { order });
    expect(own.result.state.log).toEqual(['a', 'quick', 'slow', 'after']);
    const first = await run(plan({ ...short, exits: ['quick'], firstExitWins: true }), bindings, { order });
    expect(first.result.state.log).toEqual(['a', 'quick']);
    expect(first.result.census).toMatchObject({ succeeded: 2, cancelled: 1, notRun: 1 });
  });

  test('E7: an exit sends dead tokens on its out-edges', async () => {
    const inner = plan({ nodes: ['a', 'b'], edges: ['a>b'], channels: LOG, exits: ['a'] });
    const { result } = await run(inner, words('a', 'b'));
    expect(result.state.log).toEqual(['a']);
    expect(outcomes(result)).toEqual({ b: 'skipped' });
  });
});
