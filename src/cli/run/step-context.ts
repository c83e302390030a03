import { isInItem, nodePathOf } from '../../base/address.js';
import type { Plan, PlanNode } from '../../plan/plan.js';
import type { RunLog } from '../view/run-log.js';

/** The outputs of the steps of a list or a block so far: by id, and the ids in declared order. */
export interface StepContext {
  readonly steps: Readonly<Record<string, StepContext | StepOutput>>;
  readonly order: readonly string[];
}

export interface StepOutput {
  readonly output: unknown;
  readonly agent?: string;
}

/** Returns the outputs of a run by step, with nested blocks. A step that ran several times has its last output. */
export function stepContext(plan: Plan, log: RunLog): StepContext {
  const outputs = new Map<string, unknown>();
  for (const { path, output } of log.steps.values()) {
    // The outputs of a map's items are in the list that the map returns.
    if (output !== undefined && !isInItem(path)) outputs.set(nodePathOf(path), output);
  }
  return contextOf(plan, '', outputs);
}

// Recursion is safe here: workflows are nested at most 50 deep (see checkPlan).
function contextOf(plan: Plan, prefix: string, outputs: ReadonlyMap<string, unknown>): StepContext {
  const entries = plan.nodes.flatMap((node): [string, StepContext | StepOutput][] => {
    const path = prefix + node.id;
    if (node.kind === 'call' || node.kind === 'loop') {
      const inner = contextOf(node.plan, `${path}/`, outputs);
      return inner.order.length === 0 ? [] : [[node.id, inner]];
    }
    const output = outputs.get(path);
    return output === undefined ? [] : [[node.id, { output, ...speaker(node) }]];
  });
  // Ids come from a file: as own properties they can't reach a prototype.
  return { steps: Object.fromEntries(entries), order: entries.map(([id]) => id) };
}

function speaker(node: PlanNode): Pick<StepOutput, 'agent'> {
  return node.kind === 'agent' ? { agent: node.agent.name } : {};
}
