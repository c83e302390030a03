import { describe, expect, test } from 'vitest';
import { startRun } from '../../src/engine/run.js';
import { plan, task, type State } from './plans.js';
import { SpyDurable } from './spy-durable.js';

const inputs = [
  { channel: 'a', name: 'a', required: true },
  { channel: 'b', name: 'b', required: false },
];

/** What a function reads when `a` is 1, and what it would be told now if the values were others. */
async function readsOf(
  body: (state: State, step: { arrivals: readonly unknown[] }) => unknown,
  values: Record<string, unknown> = { a: 1 },
): Promise<SpyDurable> {
  const durable = new SpyDurable('r');
  const one = plan({ nodes: [task('t', { output: 'out' })], channels: ['list:append'], inputs });
  const { result } = startRun(one, { durable, inputs: values, bindings: { t: body } });
  expect((await result).outcome).toBe('succeeded');
  return durable;
}

describe('what a function reads is noted (J2)', () => {
  const cases: readonly [string, (state: State, step: { arrivals: readonly unknown[] }) => unknown, string[]][] = [
    ['nothing', () => 1, []],
    ['a property', (state) => state['a'], ['a']],
    ['destructuring', ({ a, b }) => [a ?? null, b ?? null], ['a', 'b']],
    ['`in`', (state) => 'b' in state, ['b']],
    ['a channel that nobody has', (state) => state['nobody'] ?? null, ['nobody']],
    ['a property descriptor', (state) => Object.hasOwn(state, 'a'), ['a']],
    ['[XR8] names only', (state) => Object.keys(state), ['#keys']],
    ['spread', (state) => ({ ...state }), ['#keys', 'a']],
    ['the rest of a destructuring', ({ a: _a, ...rest }) => rest, ['#keys', 'a']],
    ['everything as JSON', (state) => JSON.parse(JSON.stringify(state)) as unknown, ['#keys', 'a']],
    ['what came along the edges', (_state, step) => step.arrivals.length, ['#arrivals']],
    ['after a wait', async (state) => [await Promise.resolve(1), state['a']], ['a']],
    ['a channel that is called like all of them', (state) => state['*'] ?? null, ['#*']],
  ];
  test.each(cases)('%s', async (_name, body, expected) => {
    const durable = await readsOf(body);
    expect(Object.keys(durable.reads('t'))).toEqual(expected);
  });

  test('digests are those of the values; empty for what nobody wrote', async () => {
    const body = (state: State): unknown => [state['a'], state['b'] ?? null];
    const one = (await readsOf(body)).reads('t');
    expect(one['b']).toBe('');
    expect(one['a']).toMatch(/^[\w-]{22}$/);
    expect((await readsOf(body, { a: 1 })).reads('t')).toEqual(one);
    expect((await readsOf(body, { a: 2 })).reads('t')['a']).not.toBe(one['a']);
    expect((await readsOf(body, { a: 1, b: 0 })).reads('t')['b']).not.toBe('');
  });

  test('[XR8] names of channels: another one is told apart, another value is not', async () => {
    const names = async (values: Record<string, unknown>): Promise<string | undefined> =>
      (await readsOf((state) => Object.keys(state).length, values)).reads('t')['#keys'];
    const digests = [await names({ a: 1 }), await names({ a: 2 }), await names({ a: 1, b: 1 })];
    expect(digests[0]).toBe(digests[1]);
    expect(digests[2]).not.toBe(digests[0]);
  });

  test('all channels: another value, another channel and another name are told apart', async () => {
    const all = async (values: Record<string, unknown>): Promise<string> =>
      JSON.stringify((await readsOf((state) => Object.values(state).length, values)).reads('t'));
    const digests = [await all({ a: 1 }), await all({ a: 2 }), await all({ a: 1, b: 1 }), await all({ b: 1, a: 2 })];
    expect(new Set(digests).size).toBe(4);
    expect(await all({ a: 1 })).toBe(digests[0]);
  });

  test('the digest now of what was read then is that of the run that asks', async () => {
    const first = await readsOf((state) => [state['a'], ...Object.keys(state)], { a: 1 });
    const second = await readsOf((state) => state['a'], { a: 1, b: 2 });
    const identity = second.identities.get('t');
    expect(identity?.current?.('a')).toBe(second.reads('t')['a']);
    expect(identity?.current?.('b')).not.toBe('');
    expect(identity?.current?.('#keys')).not.toBe(first.reads('t')['#keys']);
    expect(identity?.current?.('*')).toMatch(/^[\w-]{22}$/);
    expect(identity?.current?.('nobody')).toBe('');
  });

  test('what came along the edges counts with its failures', async () => {
    const arrivals = async (message: string): Promise<string | undefined> => {
      const durable = new SpyDurable('r');
      const nodes = [task('bad', { onError: 'continue' }), task('after', { join: 'settled', output: 'n' })];
      const bindings = {
        bad: () => {
          throw new Error(message);
        },
        after: (_state: State, step: { arrivals: readonly unknown[] }) => step.arrivals.length,
      };
      await startRun(plan({ nodes, edges: ['bad>after'] }), { durable, bindings }).result;
      return durable.reads('after')['#arrivals'];
    };
    expect(await arrivals('one')).toBe(await arrivals('one'));
    expect(await arrivals('one')).not.toBe(await arrivals('two'));
  });

  test('choosers are observed too; they see what their node wrote', async () => {
    const durable = new SpyDurable('r');
    const one = plan({
      nodes: ['t', 'x', 'y'],
      channels: ['n', 'm'],
      routes: [{ from: 't', choose: 'code', targets: ['x', 'y'] }],
    });
    const bindings = {
      t: () => ({ n: 1, m: 2 }),
      'route:t': (state: State) => (state['n'] === 1 ? 'x' : 'y'),
      x: () => undefined,
      y: () => undefined,
    };
    await startRun(one, { durable, bindings }).result;
    expect(Object.keys(durable.reads('t@route'))).toEqual(['n']);
    expect(durable.reads('t@route')['n']).not.toBe('');
    expect(durable.reads('x')).toEqual({});
  });

  test('a view that is observed refuses changes like any other', async () => {
    const durable = new SpyDurable('r');
    const one = plan({ nodes: ['t'], channels: ['n'] });
    const { result } = startRun(one, {
      durable,
      bindings: { t: (state: Record<string, unknown>) => (state['n'] = 1) },
    });
    expect((await result).error?.code).toBe('SKEIN_STATE_MUTATED');
  });
});
