import { describe, expect, test } from 'vitest';
import { fails, logs, outcomes, plan, run, task, writes, type State } from './plans.js';

const LOG = ['log:append', 'a', 'b', 'seen'];

describe('joins', () => {
  test('E1: a node fires once per round of tokens on its in-edges', async () => {
    const diamond = plan({ nodes: ['a', 'b', 'c', 'd'], edges: ['a>b', 'a>c', 'b>d', 'c>d'], channels: LOG });
    const bindings = { a: logs('a'), b: logs('b'), c: logs('c'), d: logs('d') };
    for (const order of [
      ['a', 'b', 'c', 'd'],
      ['a', 'c', 'b', 'd'],
    ]) {
      const { result, started } = await run(diamond, bindings, { order });
      expect(started).toEqual(['a', 'b', 'c', 'd']);
      expect(result.state.log).toEqual(['a', 'b', 'c', 'd']);
    }
  });

  test('E2: `all` waits for every path and runs when at least one of them was taken', async () => {
    const joined = plan({
      nodes: ['a', task('dead', { when: [{ op: 'code' }] }), 'd'],
      edges: ['a>d', 'dead>d'],
      channels: LOG,
    });
    const bindings = { a: logs('a'), dead: logs('dead'), d: logs('d'), 'when:dead': () => false };
    const { result } = await run(joined, bindings);
    expect(result.state.log).toEqual(['a', 'd']);
    expect(outcomes(result)).toEqual({ dead: 'skipped' });
  });

  test('E2: `all` on dead paths only is skipped, and what depends on it as well', async () => {
    const chain = plan({
      nodes: [task('a', { when: [{ op: 'code' }] }), 'b', 'c'],
      edges: ['a>b', 'b>c'],
      channels: LOG,
    });
    const { result, started } = await run(chain, { a: logs('a'), b: logs('b'), c: logs('c'), 'when:a': () => false });
    expect(started).toEqual([]);
    expect(result.outcome).toBe('succeeded');
    expect(result.census).toMatchObject({ skipped: 3, notRun: 0 });
    expect(result.steps.every((step) => (step.reason ?? '').length > 0)).toBe(true);
  });

  test('E2: `any` fires at the first live token and absorbs the rest of the round', async () => {
    const race = plan({
      nodes: ['a', 'b', task('j', { join: 'any' })],
      edges: ['a>j', 'b>j'],
      channels: LOG,
    });
    const bindings = { a: logs('a'), b: logs('b'), j: (state: State) => ({ seen: state.log }) };
    const first = await run(race, bindings, { order: ['b', 'j', 'a'] });
    expect(first.result.state.seen).toEqual(['b']);
    expect(first.result.census.succeeded).toBe(3);
    const second = await run(race, bindings, { order: ['a', 'b', 'j'] });
    expect(second.result.state.seen).toEqual(['a']);
  });

  test('E2: `any` passes over a dead token, and is skipped when all are dead', async () => {
    const race = plan({
      nodes: [task('a', { onError: 'continue' }), task('b', { onError: 'continue' }), task('j', { join: 'any' })],
      edges: ['a>j', 'b>j'],
      channels: LOG,
    });
    const half = await run(race, { a: fails(), b: logs('b'), j: logs('j') }, { order: ['a', 'b', 'j'] });
    expect(half.result.state.log).toEqual(['b', 'j']);
    const none = await run(race, { a: fails(), b: fails(), j: logs('j') });
    expect(outcomes(none.result)).toEqual({ a: 'failed', b: 'failed', j: 'skipped' });
    expect(none.result.outcome).toBe('degraded');
  });

  test('E2: `quorum(n)` fires at the n-th live token, with what those n carry', async () => {
    const vote = plan({
      nodes: ['a', 'b', 'c', task('j', { join: { quorum: 2 } })],
      edges: ['a>j', 'b>j', 'c>j'],
      channels: LOG,
    });
    const bindings = { a: logs('a'), b: logs('b'), c: logs('c'), j: (state: State) => ({ seen: state.log }) };
    const { result } = await run(vote, bindings, { order: ['c', 'a', 'j', 'b'] });
    expect(result.state.seen).toEqual(['a', 'c']);
    expect(result.census.succeeded).toBe(4);
  });

  test('E2: `quorum(n)` with fewer live paths is skipped once all tokens are there', async () => {
    const vote = plan({
      nodes: ['a', task('b', { onError: 'continue' }), task('j', { join: { quorum: 2 } })],
      edges: ['a>j', 'b>j'],
      channels: LOG,
    });
    const { result } = await run(vote, { a: logs('a'), b: fails(), j: logs('j') });
    expect(outcomes(result)).toEqual({ b: 'failed', j: 'skipped' });
    expect(result.state.log).toEqual(['a']);
  });

  test('E2: `settled` runs once every path has a token, whatever it is', async () => {
    const chain = plan({
      nodes: ['a', task('b', { when: [{ op: 'code' }] }), task('c', { join: 'settled' })],
      edges: ['a>b', 'b>c'],
      channels: LOG,
    });
    const bindings = {
      a: writes({ a: 'written' }),
      b: logs('b'),
      c: (state: State) => ({ seen: state.a }),
      'when:b': () => false,
    };
    const { result } = await run(chain, bindings);
    expect(outcomes(result)).toEqual({ b: 'skipped' });
    // S2: the writes before the skipped step are causal ancestors.
    expect(result.state.seen).toBe('written');
  });

  test('E5: a step starts when its own inputs are ready, not when a level is', async () => {
    const uneven = plan({ nodes: ['a', 'b', 'a2', 'b2'], edges: ['a>a2', 'b>b2'], channels: LOG });
    const bindings = { a: logs('a'), b: logs('b'), a2: logs('a2'), b2: logs('b2') };
    const { events } = await run(uneven, bindings, { order: ['b', 'b2', 'a', 'a2'] });
    const said = events.flatMap((event) =>
      event.type === 'step.started' ? [`+${event.node}`] : event.type === 'step.ended' ? [`-${event.node}`] : [],
    );
    expect(said).toEqual(['+a', '+b', '-b', '+b2', '-b2', '-a', '+a2', '-a2']);
  });

  test('E5: `concurrency` bounds how many steps run at once', async () => {
    let running = 0;
    let most = 0;
    const slow = async (): Promise<Record<string, unknown>> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return { log: 'x' };
    };
    const wide = plan({ nodes: ['a', 'b', 'c', 'd', 'e'], channels: LOG });
    const bindings = { a: slow, b: slow, c: slow, d: slow, e: slow };
    const { result, started } = await run(wide, bindings, { concurrency: 2 });
    expect(most).toBe(2);
    expect(result.census.succeeded).toBe(5);
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('E9: steps that become ready together start in plan order, not in the order of the edges', async () => {
    const fan = plan({ nodes: ['z', 'y', 'x', 'root'], edges: ['root>x', 'root>y', 'root>z'], channels: LOG });
    const { started } = await run(fan, { root: logs('r'), x: logs('x'), y: logs('y'), z: logs('z') });
    expect(started).toEqual(['root', 'z', 'y', 'x']);
  });
});
