import { present } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import type { EndNode } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import type { EndDef } from '../step-keys.js';
import { buildConditions } from './conditions.js';
import type { StepDef } from './definition.js';
import type { References } from './references.js';
import type { StepGraph } from './step-graph.js';

/** Builds the node of a step that ends the file. The loops around it are parts of the same file. */
export function endNode(
  step: StepDef,
  { status, reason }: EndDef,
  references: References,
  findings: Findings,
): EndNode {
  const when = buildConditions(step, references, findings);
  const out = references.graph.blocksAround(step);
  return present({
    kind: 'end' as const,
    id: step.id,
    status: status === 'failed' ? status : undefined,
    reason: reason && references.template(reason, step),
    out: out === 0 ? undefined : out,
    when: when.length === 0 ? undefined : when,
    at: step.at,
  });
}

/** The graph of a list of steps, and its chosen steps. */
interface Known {
  readonly graph: StepGraph;
  /** Steps that run only if chosen. */
  readonly chosen: ReadonlySet<string>;
}

/** Reports steps that depend on one that always ends the file. Problem code: `unreachable-step`. */
export function reportUnreachable(steps: readonly StepDef[], { graph, chosen }: Known, findings: Findings): void {
  const ending = new Set(steps.filter((step) => !chosen.has(step.id) && endsFile(step)).map(({ id }) => id));
  for (const step of steps) {
    const end = graph.dependsOn(step.id).find((id) => ending.has(id));
    if (end === undefined) continue;
    const message = `${step.label} can never run: ${quoteShort(end)}, which it depends on, ends the workflow`;
    const hint = `give ${end} a condition, or remove ${step.id === '' ? 'the step' : step.id}`;
    findings.error('unreachable-step', message, step.at, hint);
  }
}

/** Whether a step always ends the file: it is an end, or a loop with one. Steps that an agent chooses may not run. */
function endsFile({ condition, end, loop, keys }: StepDef): boolean {
  if (condition !== undefined) return false;
  if (end !== undefined) return true;
  if (loop === undefined || (keys.on_error !== undefined && keys.on_error !== 'fail')) return false;
  const chosen = new Set(loop.steps.flatMap(({ choose }) => choose.map(({ to }) => to.text)));
  return loop.steps.some((step) => !chosen.has(step.id) && endsFile(step));
}
