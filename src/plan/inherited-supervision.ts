import { noteReadFrom, readFrom } from './own-plan.js';
import { isAgentNode } from './nodes.js';
import type { Plan, PlanNode } from './plan.js';
import type { Supervision } from './supervision.js';

export interface Said {
  /** Who judges, or `nobody`; absent: inherited. */
  readonly mode?: Supervision['by'] | 'nobody';
}

/** The problem of a step that would remove a person's gate. Its code is `human-gate`. */
export interface GateProblem {
  readonly message: string;
  readonly hint: string;
}

/** Returns the supervision inside a step: the own setting, otherwise the surrounding one. A gate of a person always stays. */
export function supervisedUnder<S extends Said>(
  own: S | undefined,
  around: S | undefined,
  removesGate: (optsOut: boolean) => void,
): S | undefined {
  if (own === undefined) return around;
  const { mode } = own;
  if (around?.mode === 'human' && (mode === 'nobody' || mode === 'model')) removesGate(mode === 'nobody');
  return mode === 'nobody' || around === undefined || around.mode === 'nobody' ? own : { ...around, ...own };
}

/** Returns the problem of a step, `step "a"`, that opts out, or replaces the person by a model. */
export function gateProblem(step: string, optsOut: boolean, hint: string): GateProblem {
  const what = optsOut ? 'opts out of' : 'lets a model take over';
  return { message: `${step} ${what} the supervision by a person that the workflow around it requires`, hint };
}

export function withoutSupervision(plan: Plan): Plan {
  const nodes = plan.nodes.map((node) => {
    const { supervise, ...bare } = node;
    if ('plan' in bare) return { ...bare, plan: withoutSupervision(bare.plan) };
    return supervise === undefined ? node : bare;
  });
  return { ...plan, nodes };
}

/** Callbacks for findings. Paths are ids of steps from the plan downwards: `['each', 'writer']`. */
export interface SuperviseReport {
  /** The agent inherited the supervision. */
  readonly supervised?: (path: readonly string[]) => void;
  /** A node under a person's gate opts out, or replaces the person by a model. */
  readonly removesGate: (node: PlanNode, path: readonly string[]) => void;
}

/**
 * Returns a plan whose agents, at any depth, inherit the surrounding supervision unless they have their own setting. A part that is
 * supervised as a whole stays as it is. References of an instruction must be known in every nested plan.
 */
export function superviseInside(
  plan: Plan,
  around: Supervision,
  report: SuperviseReport,
  path: readonly string[] = [],
): Plan {
  const nodes = plan.nodes.map((node) => {
    const here = [...path, node.id];
    if (node.unsupervised === true || (isAgentNode(node) && node.supervise !== undefined)) {
      if (around.by === 'human' && node.supervise?.by !== 'human') report.removesGate(node, here);
      return node;
    }
    if (isAgentNode(node)) {
      report.supervised?.(here);
      return { ...node, supervise: around };
    }
    return 'plan' in node ? { ...node, plan: superviseInside(node.plan, around, report, here) } : node;
  });
  const copy = { ...plan, nodes };
  noteReadFrom(copy, readFrom(plan));
  return copy;
}
