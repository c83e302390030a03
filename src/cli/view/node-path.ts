import type { Plan, PlanNode } from '../../plan/plan.js';

/** A node with the plan that it stands in. */
export interface PlacedNode {
  readonly node: PlanNode;
  readonly plan: Plan;
}

/**
 * All nodes of a plan by their path, those of sub-plans included, an outer one before those inside of it.
 *
 * @example
 * nodesByPath(plan).get('par_gen/gen_1')?.node.kind; // 'agent'
 */
export function nodesByPath(plan: Plan): ReadonlyMap<string, PlacedNode> {
  const nodes = new Map<string, PlacedNode>();
  addNodes(plan, '', nodes);
  return nodes;
}

// Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
function addNodes(plan: Plan, prefix: string, nodes: Map<string, PlacedNode>): void {
  for (const node of plan.nodes) {
    const path = prefix + node.id;
    nodes.set(path, { node, plan });
    if ('plan' in node) addNodes(node.plan, `${path}/`, nodes);
  }
}
