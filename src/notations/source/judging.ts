import { asErrors } from '../../base/problem.js';
import type { Workflow } from '../../plan/workflow.js';

/** How strictly workflow files are judged. */
export interface Judging {
  /** What a file asks for and Skein does not do is a warning (`not-supported`), also where the file means something else or is less safe without it. Default false. */
  readonly lenient?: boolean;
  /** Every warning is an error: a workflow with a warning has no plan. Default false. */
  readonly strict?: boolean;
}

/**
 * A workflow as `strict` judges it.
 *
 * @example
 * judged(workflow, { strict: true }).plan; // undefined when there is a warning
 */
export function judged(workflow: Workflow, { strict = false }: Judging): Workflow {
  if (!strict || workflow.problems.length === 0) return workflow;
  return { ...workflow, plan: undefined, problems: asErrors(workflow.problems) };
}
