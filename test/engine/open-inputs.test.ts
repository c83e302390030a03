import { describe, expect, test } from 'vitest';
import { graph, reducers } from '../../src/graph.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

const performed: string[] = [];

const sums = definePlan({
  name: 'sums',
  openInputs: true,
  inputs: [{ name: 'a', default: 1 }],
  nodes: [
    {
      id: 'add',
      run: ({ a, b = 0 }: { a: number; b?: number }) => {
        performed.push('add');
        return { sum: a + b };
      },
    },
    {
      id: 'double',
      output: 'twice',
      run: ({ c }: { c: number }) => {
        performed.push('double');
        return 2 * c;
      },
    },
  ],
});

describe('open inputs', () => {
  test('a value that nobody declares is a channel, frozen like any other', async () => {
    const list = [{ n: 1 }];
    const { state } = await run(sums, { inputs: { c: 4, z: list, b: 2 } }).result;
    expect(state).toEqual({ a: 1, twice: 8, b: 2, c: 4, sum: 3, z: [{ n: 1 }] });
    list[0] = { n: 2 };
    expect([state['z'], Object.isFrozen(state['z'])]).toEqual([[{ n: 1 }], true]);
  });

  test('runs at once have channels of their own', async () => {
    const results = [{ b: 1 }, { x: 'x' }, { b: 3, y: 'y' }].map((inputs) => run(sums, { inputs }).result);
    const states = (await Promise.all(results)).map(({ state }) => Object.keys(state).toSorted().join());
    expect(states).toEqual(['a,b,sum,twice', 'a,sum,twice,x', 'a,b,sum,twice,y']);
  });

  test('a plan without them refuses such values by name', () => {
    const closed = definePlan({ name: 'closed', nodes: [{ id: 'a', output: 'x', run: () => 1 }] });
    expect(() => run(closed, { inputs: { b: 1 } })).toThrow(
      "inputs of 'closed': 'b' is neither an input nor a channel",
    );
  });

  test('a name that means something to JavaScript is refused', () => {
    const inputs = JSON.parse('{ "__proto__": 1, "constructor": 2 }') as Record<string, unknown>;
    expect(() => run(sums, { inputs })).toThrow(
      "'__proto__' is neither an input nor a channel; 'constructor' is neither an input nor a channel",
    );
  });

  test('J2: a recorded run goes on with them, and a fork runs again only what read another value', async () => {
    const store = memoryStore();
    await run(sums, { store, runId: 'r', inputs: { b: 2, c: 4 } }).result;
    performed.length = 0;
    const resumed = await run(sums, { store, resume: 'r' }).result;
    expect([resumed.state['sum'], resumed.state['twice'], resumed.reused, performed]).toEqual([3, 8, 2, []]);
    const forked = await run(sums, { store, fork: { run: 'r' }, inputs: { c: 5 } }).result;
    expect([forked.state['sum'], forked.state['twice'], performed]).toEqual([3, 10, ['double']]);
    performed.length = 0;
    await run(sums, { store, fork: { run: 'r' }, inputs: { q: 1 } }).result;
    expect(performed).toEqual([]);
  });

  test('a sub-plan takes what its node gives it, declared or not', async () => {
    const outer = definePlan({
      name: 'outer',
      inputs: ['list'],
      nodes: [
        { id: 'one', kind: 'call', plan: sums, inputs: { b: { value: 5 }, c: { value: 1 } }, outputs: { six: 'sum' } },
        {
          id: 'many',
          kind: 'map',
          plan: sums,
          over: { channel: 'list' },
          item: 'c',
          result: 'twice',
          output: 'doubles',
          maxItems: 9,
        },
      ],
    });
    const { state } = await run(outer, { inputs: { list: [1, 2] } }).result;
    expect([state['six'], state['doubles']]).toEqual([6, [2, 4]]);
  });
});

test('a value that a reducer refuses has no hint about inputs, where a workflow takes any', async () => {
  const { error } = await graph<{ log: string[] }>({ reducers: { log: reducers.append } })
    .addNode('a', () => ({ log: 'a' }))
    .setEntry('a')
    .run({ log: 'text' as never });
  expect(error?.message).toBe("inputs of 'graph': 'log': reducer 'append' needs a list, not string");
  expect(error?.hint).toBeUndefined();
});
