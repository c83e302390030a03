import { SkeinError } from '../base/errors.js';
import type { Json } from '../base/json.js';
import { definitionError, formatProblem, hasErrors, holdingBack } from '../base/problem.js';
import { compile, type CompiledPlan } from '../engine/graph/compile.js';
import { ruleOfTwo } from '../guard/foresee.js';
import { checkPlan } from '../plan/checks.js';
import { NO_BINDINGS, type Bindings, type Plan } from '../plan/plan.js';
import type { Security } from '../plan/security.js';
import type { Runnable } from './options.js';

/** @throws SkeinError `SKEIN_DEFINITION` with all problems in `details.problems` */
export function checkedPlan(workflow: Runnable): Plan {
  const { plan } = workflow;
  const held = holdingBack(workflow.problems ?? []);
  const found = plan === undefined ? (workflow.problems ?? []) : checkPlan(plan, workflow.bindings ?? NO_BINDINGS);
  const problems = [...found, ...held];
  if (plan !== undefined && !hasErrors(problems)) return plan;
  const errors = problems.filter((problem) => problem.severity === 'error');
  const message =
    errors.length === 0 ? 'the workflow has no plan: its definition has errors' : errors.map(formatProblem).join('\n');
  throw new SkeinError('SKEIN_DEFINITION', message, { details: asJson({ problems }) });
}

/**
 * Checks the rule of two: under `paranoid`, an agent that reads untrusted content may act outside only if its author declares it.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with all problems in `details.problems`
 */
export function checkRuleOfTwo(plan: Plan, security: Security | undefined): void {
  if (security === undefined && !isCareful(plan)) return;
  const problems = ruleOfTwo(plan, security).filter(({ severity }) => severity === 'error');
  if (problems.length === 0) return;
  throw definitionError(problems);
}

// Recursion is safe here: workflows are nested at most 50 deep (see checkPlan).
function isCareful({ security, nodes }: Plan): boolean {
  return (
    security !== undefined ||
    nodes.some((node) => node.security !== undefined || ('plan' in node && isCareful(node.plan)))
  );
}

/** Data as JSON: what is undefined is left out. */
export function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** Frozen plans, compiled for the bindings they last ran with. */
const prepared = new WeakMap<object, { readonly bindings: Bindings | undefined; readonly compiled: CompiledPlan }>();

/**
 * Checks and compiles a workflow. A frozen workflow, such as one of {@link definePlan}, is compiled once for all its runs.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with all problems in `details.problems`; `SKEIN_NO_BINDING`
 */
export function preparedPlan(workflow: Runnable): CompiledPlan {
  const { plan, bindings } = workflow;
  const known = plan === undefined ? undefined : prepared.get(plan);
  if (known !== undefined && known.bindings === bindings) return known.compiled;
  const compiled = compile(checkedPlan(workflow), bindings);
  const fixed = Object.isFrozen(plan) && (bindings === undefined || Object.isFrozen(bindings));
  if (plan !== undefined && fixed) prepared.set(plan, { bindings, compiled });
  return compiled;
}
