import { isInItem, nodePathOf } from '../../base/address.js';
import type { Plan, PlanNode } from '../../plan/plan.js';
import type { RunLog } from '../view/run-log.js';

/** What the steps of a list or a block have given so far: by id, and in the order in which they are declared. */
export interface StepContext {
  readonly steps: Readonly<Record<string, StepContext | StepOutput>>;
  readonly order: readonly string[];
}

/** What one step has given. */
export interface StepOutput {
  readonly output: unknown;
  /** Name of the agent that gave it. */
  readonly agent?: string;
}

/**
 * The outputs of a run by the ids of its steps, blocks within blocks. Of a step that ran several times it is the last output; a step that gave
 * none is left out.
 *
 * @example
 * stepContext(plan, log); // { steps: { gen: { output: 'Hello', agent: 'generator' } }, order: ['gen'] }
 */
export function stepContext(plan: Plan, log: RunLog): StepContext {
  const outputs = new Map<string, unknown>();
  for (const { path, output } of log.steps.values()) {
    // What the items of a map gave is in the list that the map gives.
    if (output !== undefined && !isInItem(path)) outputs.set(nodePathOf(path), output);
  }
  return contextOf(plan, '', outputs);
}

// Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
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
  // Ids come from a file, so they are own properties of an object without a prototype chain that they could reach.
  return { steps: Object.fromEntries(entries), order: entries.map(([id]) => id) };
}

function speaker(node: PlanNode): Pick<StepOutput, 'agent'> {
  return node.kind === 'agent' ? { agent: node.agent.name } : {};
}
