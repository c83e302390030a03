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
  type Flow = typeof flow;
  expectTypeOf<Parameters<Flow['addEdge']>[0]>().toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf<Parameters<Flow['addEdge']>[1]>().toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf<Parameters<Flow['setEntry']>[0]>().toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf<Parameters<Flow['setExit']>[0]>().toEqualTypeOf<'look' | 'told' | Any>();
  expectTypeOf<string>().toExtend<Parameters<Flow['setExit']>[0]>();
});

test('[XG14] a graph that is added to in a loop keeps its type', () => {
  let flow: Graph<{ n: number }> = graph<{ n: number }>();
  for (const name of ['a', 'b']) flow = flow.addNode(name, () => ({ n: 1 }));
  flow = flow.addNode('c', () => ({ n: 2 })).addEdge('a', 'c');
  expectTypeOf(flow).toEqualTypeOf<Graph<{ n: number }>>();
});
