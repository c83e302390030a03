import { expect, test } from 'vitest';
import { readHistory } from '../../../src/journal/session.js';
import { readStored } from '../../../src/journal/stored.js';
import type { Plan } from '../../../src/plan/plan.js';
import { definePlan } from '../../../src/plan/builder.js';
import type { Definition } from '../../../src/plan/builder-input.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';

const NODE = { id: 'a', output: 'a' };
const first = definePlan({ name: 'p', inputs: ['n'], nodes: [{ ...NODE, run: ({ n }) => Number(n) + 1 }] });
const otherCode = definePlan({ name: 'p', inputs: ['n'], nodes: [{ ...NODE, run: ({ n }) => Number(n) + 2 }] });
const otherPlan = definePlan({
  name: 'p',
  inputs: ['n'],
  nodes: [
    { ...NODE, run: ({ n }) => Number(n) + 2 },
    { id: 'b', output: 'b', run: () => 'new' },
  ],
});

test('J11: a run keeps the definition that it began with; what a session changes, and nothing else, stands beside it', async () => {
  const store = memoryStore();
  const values: unknown[] = [(await run(first, { store, runId: 'r', inputs: { n: 1 } }).result).state['a']];
  const sessions: readonly (readonly [Definition, Readonly<Record<string, unknown>>, readonly string[], number])[] = [
    [first, {}, [], 2],
    [otherCode, {}, ['code'], 3],
    [otherCode, {}, [], 3],
    [otherPlan, {}, ['code', 'plan'], 3],
    [otherPlan, { n: 1 }, [], 3],
    [otherPlan, {}, [], 3],
  ];
  for (const [workflow, inputs, changed, value] of sessions) {
    const { state } = await run(workflow, { store, resume: 'r', inputs }).result;
    values.push(state['a']);
    expect(state['a']).toBe(value);
    const { open } = readHistory(store, 'r').sessions.at(-1) ?? {};
    expect(
      Object.keys(open ?? {})
        .filter((name) => ['code', 'inputs', 'plan'].includes(name))
        .toSorted(),
    ).toEqual(changed);
  }
  expect(values[0]).toBe(2);
  const { begin, current } = readHistory(store, 'r');
  const nodes = (stored: typeof begin.plan) => (readStored(store, stored) as Plan).nodes.map(({ id }) => id);
  expect([nodes(begin.plan), nodes(current.plan)]).toEqual([['a'], ['a', 'b']]);
  expect([readStored(store, begin.inputs), readStored(store, current.inputs)]).toEqual([{ n: 1 }, { n: 1 }]);
  expect(Object.keys(begin.code)).toEqual(['a']);
  expect(current.code['a']).not.toBe(begin.code['a']);
  expect(current.code['b']).toBeDefined();
});
