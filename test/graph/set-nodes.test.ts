import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { graph, setNode } from '../../src/graph.js';

const flags = setNode({
  urgent: "{{= severity in ['high', 'critical'] }}",
  title: 'A {{ severity }} one',
  first: '{{ items.0 }}',
  all: { items: '{{ items }}', count: '{{= size(items) }}' },
});

it('[addition 6] setNode makes values of the state, of their own types, and is wired by the names that it reads', async () => {
  const flow = graph<{ severity: string }>()
    .node('items', ({ severity }) => [severity, 'b'])
    .node('flags', flags)
    .node('said', ({ flags: made }) => JSON.stringify(made));
  const { state, outcome } = await flow.run({ severity: 'high' });
  expect([outcome, state.flags]).toEqual([
    'succeeded',
    { urgent: true, title: 'A high one', first: 'high', all: { items: ['high', 'b'], count: 2 } },
  ]);
  expect(state.said).toBe(JSON.stringify(state.flags));
});

it('[addition 6] setNode leaves no record, and is made again by a resume', async () => {
  const store = memoryStore();
  const flow = graph<{ severity: string }>()
    .node('items', () => ['a'])
    .node('flags', flags);
  const first = await flow.run({ severity: 'low' }, { store });
  const again = await flow.run({ severity: 'low' }, { store, fork: { run: first.runId } });
  expect(again.state.flags).toEqual(first.state.flags);
});

it('[missing-values] [bad-expression] a setNode without values, or with an expression that is none, is refused', async () => {
  expect(() => setNode({})).toThrow('setNode: no values are given');
  const wrong = graph<{ a: string }>().node('x', setNode({ y: '{{= size( }}' }));
  await expect(wrong.run({ a: 'b' })).rejects.toMatchObject({ code: 'SKEIN_DEFINITION' });
});
