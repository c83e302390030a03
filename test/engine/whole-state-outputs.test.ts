import { describe, expect, test } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

const count = definePlan({
  name: 'count',
  inputs: [{ name: 'n', default: 0 }],
  channels: { log: 'append', never: {} },
  nodes: [{ id: 'up', run: ({ n }: { n: number }) => ({ n: n + 1, log: `at ${n}`, extra: [n] }) }],
});

describe('`*` as an output of a sub-plan', () => {
  test('is its whole final state as one object: what was written, declared or not', async () => {
    const outer = definePlan({
      name: 'outer',
      nodes: [
        { id: 'call', kind: 'call', plan: count, outputs: { all: '*', first: 'n' } },
        { id: 'named', kind: 'call', plan: count, output: 'named', outputs: { named: '*' } },
        {
          id: 'loop',
          kind: 'loop',
          plan: count,
          carry: ['n', 'log'],
          until: 'n == 2',
          maxRounds: 5,
          outputs: { rounds: '*' },
        },
      ],
      edges: [['call', 'named', 'loop']],
    });
    const { state, error } = await run(outer).result;
    expect(error).toBeUndefined();
    const one = { n: 1, log: ['at 0'], extra: [0] };
    expect(state).toEqual({ all: one, first: 1, named: one, rounds: { n: 2, log: ['at 0', 'at 1'], extra: [1] } });
    expect([Object.isFrozen(state['all']), Object.keys(state['all'] as object)]).toEqual([true, ['n', 'log', 'extra']]);
  });

  test('of a map is a list of states', async () => {
    const outer = definePlan({
      name: 'outer',
      inputs: ['list'],
      nodes: [
        {
          id: 'm',
          kind: 'map',
          plan: count,
          over: { channel: 'list' },
          item: 'n',
          result: '*',
          output: 'all',
          maxItems: 3,
        },
      ],
    });
    const { state } = await run(outer, { inputs: { list: [4, 7] } }).result;
    expect(state['all']).toEqual([
      { n: 5, log: ['at 4'], extra: [4] },
      { n: 8, log: ['at 7'], extra: [7] },
    ]);
  });

  test('J2: whoever reads it runs again only when it is another one', async () => {
    const performed: number[] = [];
    const outer = definePlan({
      name: 'outer',
      inputs: ['start', 'other'],
      nodes: [
        { id: 'call', kind: 'call', plan: count, inputs: { n: { channel: 'start' } }, outputs: { all: '*' } },
        { id: 'read', output: 'r', run: ({ all }: { all: { n: number } }) => performed.push(all.n) },
      ],
      edges: [['call', 'read']],
    });
    const store = memoryStore();
    await run(outer, { store, runId: 'r', inputs: { start: 1, other: 1 } }).result;
    await run(outer, { store, fork: { run: 'r' }, inputs: { other: 2 } }).result;
    expect(performed).toEqual([2]);
    await run(outer, { store, fork: { run: 'r' }, inputs: { start: 5 } }).result;
    expect(performed).toEqual([2, 6]);
  });
});
