import type { AgentNode, PlanNode } from './plan.js';

/** The agents of a plan and of the plans in it, each with its path. */
export function* agentsOf(nodes: readonly PlanNode[], prefix: string): Generator<{ node: AgentNode; path: string }> {
  for (const node of nodes) {
    const path = `${prefix}${node.id}`;
    if (node.kind === 'agent') yield { node, path };
    else if (node.kind === 'call' || node.kind === 'map' || node.kind === 'loop')
      yield* agentsOf(node.plan.nodes, `${path}/`);
  }
}
