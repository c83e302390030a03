import { nodePathOf } from '../base/address.js';
import type { Plan, PlanNode } from '../plan/plan.js';

/** Finds the node of a plan that a path is an execution of; undefined when the plan has none, because it was edited. */
export function nodeFinder(plan: Plan): (path: string) => PlanNode | undefined {
  const nodes = new Map<Plan, ReadonlyMap<string, PlanNode>>();
  const nodesOf = (one: Plan): ReadonlyMap<string, PlanNode> => {
    let found = nodes.get(one);
    if (found === undefined) {
      found = new Map(one.nodes.map((node) => [node.id, node]));
      nodes.set(one, found);
    }
    return found;
  };
  return (path) => {
    let inside: Plan | undefined = plan;
    let node: PlanNode | undefined;
    for (const id of nodePathOf(path).split('/')) {
      if (inside === undefined) return undefined;
      node = nodesOf(inside).get(id);
      if (node === undefined) return undefined;
      inside = 'plan' in node ? node.plan : undefined;
    }
    return node;
  };
}
