import { compile } from '../engine/graph/compile.js';
import type { CompiledPlan } from '../engine/graph/compile.js';
import type { Bindings } from '../plan/plan.js';
import { checkedPlan } from './checked-plan.js';
import type { Runnable } from './options.js';

/** Plans that nobody can change any more, prepared for the bindings that they were last run with. */
const prepared = new WeakMap<object, { readonly bindings: Bindings | undefined; readonly compiled: CompiledPlan }>();

/**
 * A workflow checked and compiled: once for all runs of it, when it is frozen, as those of {@link definePlan} are.
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
