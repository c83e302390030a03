import { withoutSource, type Label } from '../../../guard/label.js';
import type { PlanNode } from '../../../plan/plan.js';
import type { RunLabels } from '../../state/run-labels.js';

/** A step whose function may call a tool of the program. */
interface CallingStep {
  readonly path: string;
  readonly compiled: { readonly node: PlanNode };
  readonly run: { readonly labels: RunLabels };
  influenced(label: number): void;
}

/**
 * Adds the label of what a tool gave to the function of a step, errors included, unless the program trusts the tool. It depends only on
 * the definition, so a replay adds the same, and so does a step recorded by an older version.
 */
export function hearTool(step: CallingStep): void {
  const { node } = step.compiled;
  if (node.kind !== 'task' || node.callsTool === undefined || node.trustsTool === true) return;
  const label: Label = { level: 'untrusted', isPrivate: true, sources: [sourceOf(step.path)] };
  step.influenced(step.run.labels.of(label));
}

/** Returns a step's label without what its tool gave in earlier attempts: that is not a reason to ask about the same call again. */
export function withoutTool(label: Label, path: string): Label {
  return withoutSource(label, sourceOf(path));
}

function sourceOf(path: string): string {
  return `${path}@tool#1.1`;
}
