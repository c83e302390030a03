import { describe, expect, test } from 'vitest';
import { fails, logs, plan, run, task, writes, type State } from './plans.js';
import type { PlanNode } from '../../src/plan/plan.js';

describe('state', () => {
  test('S1: inputs are copied once, and what a node gets can not be changed', async () => {
    const given = { list: [1, 2] };
    const inputs = [{ channel: 'list', name: 'list', required: true }];
    const one = plan({ nodes: ['a'], channels: ['n'], inputs });
    const kept = await run(one, { a: () => (given.list.push(3), { n: 1 }) }, { inputs: given });
    expect(kept.result.state.list).toEqual([1, 2]);
    for (const mutate of [
      (state: State) => (state.list as number[]).push(4),
      (state: State) => Object.assign(state, { list: [] }),
    ]) {
      const { result } = await run(one, { a: (state: State) => ({ n: mutate(state) }) }, { inputs: { list: [1] } });
      expect(result.outcome).toBe('failed');
      expect(result.error).toMatchObject({ code: 'SKEIN_STATE_MUTATED', name: 'TypeError' });
      expect(result.error?.hint).toContain('return an update');
    }
  });

  test('S1: an update is frozen in place, not copied', async () => {
    const update = { n: { deep: [1] } };
    const { result } = await run(plan({ nodes: ['a'], channels: ['n'] }), { a: () => update });
    expect(result.state.n).toBe(update.n);
    expect(Object.isFrozen(update.n.deep)).toBe(true);
  });

  test('S2: a node sees the writes of its causal ancestors and no others, whatever ran before it', async () => {
    const two = plan({ nodes: ['a', 'b', 'a2', 'b2'], edges: ['a>a2', 'b>b2'], channels: ['x', 'y', 'sawA', 'sawB'] });
    const bindings = {
      a: writes({ x: 1 }),
      b: writes({ y: 2 }),
      a2: (state: State) => ({ sawA: [state.x ?? null, state.y ?? null] }),
      b2: (state: State) => ({ sawB: [state.x ?? null, state.y ?? null] }),
    };
    for (const order of [
      ['a', 'a2', 'b', 'b2'],
      ['b', 'a', 'b2', 'a2'],
    ]) {
      const { result } = await run(two, bindings, { order });
      expect(result.state).toMatchObject({ x: 1, y: 2, sawA: [1, null], sawB: [null, 2] });
    }
  });

  test('S3: of two ordered writes of a plain channel the later wins at a join', async () => {
    const shortcut = plan({ nodes: ['a', 'b', 'c'], edges: ['a>b', 'a>c', 'b>c'], channels: ['x', 'seen'] });
    const bindings = { a: writes({ x: 'old' }), b: writes({ x: 'new' }), c: (state: State) => ({ seen: state.x }) };
    const { result } = await run(shortcut, bindings);
    expect(result.state).toMatchObject({ x: 'new', seen: 'new' });
  });

  test('S3: two unordered writes of a plain channel fail the join and name both writers', async () => {
    const clash = plan({ nodes: ['left', 'right', 'join'], edges: ['left>join', 'right>join'], channels: ['x'] });
    for (const order of [
      ['left', 'right'],
      ['right', 'left'],
    ]) {
      const { result } = await run(
        clash,
        { left: writes({ x: 1 }), right: writes({ x: 1 }), join: writes({}) },
        { order },
      );
      expect(result.error?.code).toBe('SKEIN_WRITE_CONFLICT');
      expect(result.error?.message).toMatch(/left.*right/);
      expect(result.steps.find((step) => step.node === 'join')?.error?.code).toBe('SKEIN_WRITE_CONFLICT');
    }
  });

  test('S3: a later write after both settles nothing that was merged before, but a single writer after the join does', async () => {
    const nodes = ['root', 'left', 'right', 'join'];
    const edges = ['root>left', 'root>right', 'left>join', 'right>join'];
    const bindings = { root: writes({ x: 0 }), left: writes({ x: 1 }), right: writes({}), join: writes({ x: 2 }) };
    const { result } = await run(plan({ nodes, edges, channels: ['x'] }), bindings);
    expect(result.state.x).toBe(2);
  });

  test('S3: reducers fold in plan order, never in order of arrival', async () => {
    const channels = ['log:append', 'all:extend', 'sum:add', 'dict:mergeDict', 'newest:last'];
    const fan = plan({ nodes: ['a', 'b', 'c', 'join'], edges: ['a>join', 'b>join', 'c>join'], channels });
    const body = (id: string, n: number) =>
      writes({ log: id, all: [id, n], sum: n, dict: { [id]: n, who: id }, newest: id });
    const bindings = { a: body('a', 1), b: body('b', 2), c: body('c', 3), join: writes({}) };
    for (const order of [
      ['a', 'b', 'c', 'join'],
      ['c', 'b', 'a', 'join'],
    ]) {
      const { result } = await run(fan, bindings, { order });
      expect(result.state).toMatchObject({
        log: ['a', 'b', 'c'],
        all: ['a', 1, 'b', 2, 'c', 3],
        sum: 6,
        dict: { a: 1, b: 2, c: 3, who: 'c' },
        newest: 'c',
      });
    }
  });

  test('S3: a contribution that many branches carry to a join counts once', async () => {
    const diamond = plan({
      nodes: ['a', 'b', 'c', 'd'],
      edges: ['a>b', 'a>c', 'b>d', 'c>d'],
      channels: ['sum:add'],
    });
    const one = writes({ sum: 1 });
    expect((await run(diamond, { a: one, b: one, c: one, d: one })).result.state.sum).toBe(4);
  });

  test('S3: the fold respects causality before plan order, and rounds of a cycle come one after the other', async () => {
    const chain = plan({ nodes: ['z', 'a', 'b'], edges: ['b>a', 'a>z'], channels: ['log:append'] });
    expect((await run(chain, { a: logs('a'), b: logs('b'), z: logs('z') })).result.state.log).toEqual(['b', 'a', 'z']);
    const cycle = plan({
      nodes: ['check', 'left', 'right', 'start'],
      edges: ['start>left', 'start>right', 'left>check', 'right>check'],
      channels: ['log:append', 'n:add'],
      routes: [{ from: 'check', choose: 'code', targets: ['start', 'END'] }],
      entry: 'start',
    });
    const { result } = await run(cycle, {
      start: logs('start'),
      left: logs('left'),
      right: logs('right'),
      check: writes({ log: 'check', n: 1 }),
      'route:check': (state: State) => (Number(state.n) < 2 ? 'start' : 'END'),
    });
    const round = ['start', 'left', 'right', 'check'];
    expect(result.state.log).toEqual([...round, ...round]);
  });

  test('S3: an input of a reducer channel comes first; a reducer may be a function', async () => {
    const inputs = [{ channel: 'text', name: 'text', required: true }];
    const fan = plan({ nodes: ['b', 'a'], channels: ['text:code'], inputs });
    const bindings = {
      a: writes({ text: 'a' }),
      b: writes({ text: 'b' }),
      'channel:text': (old: string | undefined, value: string) => (old === undefined ? value : `${old}-${value}`),
    };
    const { result } = await run(fan, bindings, { inputs: { text: 'first' }, order: ['a', 'b'] });
    expect(result.state.text).toBe('first-b-a');
  });

  test('S4: the final state is what all ended branches knew', async () => {
    const ends = plan({
      nodes: ['a', 'b', 'c', task('s', { when: [{ op: 'code' }] })],
      edges: ['a>b', 'a>c', 'c>s'],
      channels: ['x', 'y', 'z', 'w'],
      exits: ['b'],
    });
    const bindings = { a: writes({ x: 1 }), b: writes({ y: 2 }), c: writes({ z: 3 }), s: writes({ w: 4 }) };
    const { result } = await run(ends, { ...bindings, 'when:s': () => false });
    expect(result.state).toEqual({ x: 1, y: 2, z: 3 });
  });

  test('S4: what a step knew is kept when it is skipped or fails, also where its round was absorbed', async () => {
    const shapes = [
      // j fires on a's token, b's is absorbed; j then fails, or does not run.
      {
        nodes: ['a', 'b', task('j', { join: 'any', onError: 'continue' })],
        edges: ['a>j', 'a>b', 'b>j'],
        order: ['a', 'j', 'b'],
      },
      {
        nodes: ['a', 'b', task('j', { join: 'any', when: [{ op: 'code' }] })],
        edges: ['a>j', 'a>b', 'b>j'],
        order: ['a', 'b'],
      },
      // s has been skipped with what a wrote, and j is past waiting for it.
      {
        nodes: ['a', 'b', task('s', { when: [{ op: 'code' }] }), task('k', { join: 'any' })],
        edges: ['a>s', 's>k', 'b>k'],
        order: ['b', 'a', 'k'],
      },
    ] as const;
    const bodies = { a: writes({ x: 1 }), b: writes({ y: 2 }), k: writes({ z: 3 }), s: writes({}), j: fails() };
    const rules = { 'when:j': () => false, 'when:s': () => false };
    for (const { order, ...short } of shapes) {
      const { result } = await run(plan({ ...short, channels: ['x', 'y', 'z'] }), { ...bodies, ...rules }, { order });
      expect(result.state).toMatchObject({ x: 1 });
    }
  });

  const unordered: readonly (readonly [string, readonly (string | PlanNode)[], readonly string[]])[] = [
    ['two ends', ['a', 'b'], []],
    ['a skipped join', ['a', 'b', task('j', { when: [{ op: 'code' }] })], ['a>j', 'b>j']],
    ['a failed join that may fail', ['a', 'b', task('j', { onError: 'continue' })], ['a>j', 'b>j']],
  ];

  test.each(unordered)(
    'S4: unordered writes that meet only at the end fail the run: %s',
    async (_name, nodes, edges) => {
      const bindings = { a: writes({ x: 1 }), b: writes({ x: 2 }), j: writes({}), 'when:j': () => false };
      const { result } = await run(plan({ nodes, edges, channels: ['x'] }), bindings);
      expect(result.outcome).toBe('failed');
      expect(result.error?.code).toBe('SKEIN_WRITE_CONFLICT');
      expect(result.error?.message).toMatch(/a.*b/);
    },
  );

  test('an update of a name that a closed state does not have fails the step, and says what was probably meant', async () => {
    const one = plan({ nodes: ['a'], channels: ['answer'], closedState: true });
    const { result } = await run(one, { a: () => ({ anwser: 1 }) });
    expect(result.error).toMatchObject({
      code: 'SKEIN_BAD_UPDATE',
      message: "'a' returned 'anwser', which is not a key of the state",
      hint: 'did you mean "answer"?',
    });
    expect((await run(one, { a: () => ({ answer: 1 }) })).result.state).toEqual({ answer: 1 });
  });

  test('an update of a channel that the node does not declare to write fails the step', async () => {
    const { result } = await run(plan({ nodes: [task('a', { writes: ['x'] })] }), { a: writes({ y: 1 }) });
    expect(result.error?.code).toBe('SKEIN_BAD_UPDATE');
  });

  test('an update that is none fails the step', async () => {
    for (const update of ['text', 5, [1]]) {
      const { result } = await run(plan({ nodes: ['a'], channels: ['x'] }), { a: () => update });
      expect(result.error?.code).toBe('SKEIN_BAD_UPDATE');
    }
  });

  test('`output` takes the whole result into one channel', async () => {
    const one = plan({ nodes: [task('a', { output: 'x' })], channels: ['x'] });
    expect((await run(one, { a: () => ['whole'] })).result.state.x).toEqual(['whole']);
  });
});
