import { noteReadFrom, readFrom } from './own-plan.js';
import { isAgentNode } from './nodes.js';
import type { Plan, PlanNode } from './plan.js';
import type { Supervision } from './supervision.js';

/** What is said of the supervision of something. */
export interface Said {
  /** Who judges, or nobody; absent: as around it. */
  readonly mode?: Supervision['by'] | 'nobody';
}

/** A problem of a step that would remove the gate of a person. Its code is `human-gate`. */
export interface GateProblem {
  readonly message: string;
  readonly hint: string;
}

/**
 * What holds for an agent, or for what is inside of a step: what is said of it, and otherwise what holds around it. Nothing removes the gate of a person that
 * stands around it.
 */
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

/** The problem of a step, `step "a"`, that opts out, or has a model in place of the person. */
export function gateProblem(step: string, optsOut: boolean, hint: string): GateProblem {
  const what = optsOut ? 'opts out of the supervision by a person' : 'puts a model in place of the person';
  return { message: `${step} ${what} that holds around it`, hint };
}

/** A plan of which nothing is supervised. */
export function withoutSupervision(plan: Plan): Plan {
  const nodes = plan.nodes.map((node) => {
    const { supervise, ...bare } = node;
    if ('plan' in bare) return { ...bare, plan: withoutSupervision(bare.plan) };
    return supervise === undefined ? node : bare;
  });
  return { ...plan, nodes };
}

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
