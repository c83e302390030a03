import { noteReadFrom, readFrom } from './own-plan.js';
import type { AgentNode, Plan, PlanNode } from './plan.js';
import type { Supervision } from './supervision.js';

/** What is found on the way down. Ids are those of the steps from the plan on: `['each', 'writer']`. */
export interface SuperviseReport {
  /** The supervision became that of an agent. */
  readonly supervised?: (path: readonly string[]) => void;
  /** A node in a place where a person stands guard does without, or has a model in place of the person. */
  readonly removesGate: (node: PlanNode, path: readonly string[]) => void;
}

/**
 * A plan with its agents supervised as what is around it says, wherever they stand in it, unless something else is said of them. What is supervised as
 * a whole stays as it is. What an instruction refers to must be known in every plan in it.
 */
export function superviseInside(
  plan: Plan,
  around: Supervision,
  report: SuperviseReport,
  path: readonly string[] = [],
): Plan {
  const nodes = plan.nodes.map((node) => {
    const here = [...path, node.id];
    if (node.unsupervised === true || (node.kind === 'agent' && node.supervise !== undefined)) {
      if (around.by === 'human' && node.supervise?.by !== 'human') report.removesGate(node, here);
      return node;
    }
    if (node.kind === 'agent') {
      report.supervised?.(here);
      return { ...node, supervise: around } satisfies AgentNode;
    }
    return 'plan' in node ? { ...node, plan: superviseInside(node.plan, around, report, here) } : node;
  });
  const copy = { ...plan, nodes };
  noteReadFrom(copy, readFrom(plan));
  return copy;
}
