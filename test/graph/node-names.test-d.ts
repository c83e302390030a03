import { expectTypeOf, test } from 'vitest';
import { graph } from '../../src/graph.js';
import type { Graph } from '../../src/graph.js';

type Any = string & Record<never, never>;

test('[XG14] names of nodes that were added so far are offered, and others are taken', () => {
  const flow = graph<{ n: number }>()
    .addNode('look', () => ({ n: 1 }))
    .addEdge('look', 'later')
    .node('told', ({ n }) => n)
    .setEntry('look');
  expectTypeOf(flow.addEdge).parameter(0).toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf(flow.addEdge).parameter(1).toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf(flow.setEntry).parameter(0).toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf(flow.setExit).parameter(0).toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf(flow.setExit).toBeCallableWith(String('told'));
});

test('[XG14] a graph that is added to in a loop keeps its type', () => {
  let flow: Graph<{ n: number }> = graph<{ n: number }>();
  for (const name of ['a', 'b']) flow = flow.addNode(name, () => ({ n: 1 }));
  flow = flow.addNode('c', () => ({ n: 2 })).addEdge('a', 'c');
  expectTypeOf(flow).toEqualTypeOf<Graph<{ n: number }>>();
});
