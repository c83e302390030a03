import { expect, it } from 'vitest';
import { agentNode, graph } from 'skein/graph';

it('the invariants of a graph are looked at when it is an agent in a node, and events of its inside are told', async () => {
  const inner = graph<{ task: string }>({
    invariants: [{ predicate: ({ nodeCount }) => nodeCount < 2, message: 'one node is enough' }],
  })
    .node('first', ({ task }) => task)
    .node('second', ({ first }) => first)
    .setEntry('first');
  const outer = graph<{ task: string }>().node('part', agentNode(inner.asAgent())).setEntry('part');
  const { outcome, error, events } = await outer.run({ task: 'x' });
  expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_INVARIANT']);
  expect(error?.message).toContain('one node is enough');
  expect(events.find(({ type }) => type === 'contract_violation')?.path).toBe('part/second');
});
