import { definePlan } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';

/** So many items. */
export function many(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `item ${at}`);
}

/** An agent whose calls give at most 100 tokens: one costs at most $0.002016 at the prices of the tests, and $0.002 in truth. */
export function worker(name: string, instructions = '') {
  return agentNode(agent({ name, model: 'own/m', instructions, settings: { maxOutputTokens: 100 } }));
}

/** A map over `items`, each a call of a model. */
export function mapped(more: object = {}) {
  const { plan, bindings } = graph<{ task: string; work: string }>({ reducers: {} })
    .node('work', worker('work'))
    .setEntry('work')
    .compile();
  const each = {
    id: 'each',
    kind: 'map',
    over: { channel: 'items' },
    item: 'task',
    plan: { plan, bindings },
    result: 'work',
    output: 'all',
    maxItems: 1_000,
    ...more,
  };
  return definePlan({ name: 'many', inputs: ['items'], channels: { all: 'last' }, nodes: [each as never] });
}

/** Three agents one after the other. */
export function chain(policy: object = {}, instructions = '') {
  return graph<Record<'task' | 'one' | 'two' | 'three' | 'handled', string>>({ reducers: {} })
    .node('one', worker('one', instructions))
    .node('two', worker('two', instructions), policy)
    .node('three', worker('three', instructions))
    .node('handled', () => 'handled')
    .addEdge('one', 'two')
    .addEdge('two', 'three')
    .setEntry('one')
    .compile();
}
