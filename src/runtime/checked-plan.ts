import { SkeinError, toErrorData } from '../base/errors.js';
import { present, type Json } from '../base/json.js';
import { definitionError, formatProblem, hasErrors, holdingBack, type Problem } from '../base/problem.js';
import { priceOfModel } from '../agent/loop/call-cost.js';
import type { Limit } from '../budget/ledger.js';
import { holdsAt, needsPrices, noPrice } from '../budget/limits.js';
import type { Usage } from '../events/event.js';
import type { ModelRegistry } from '../agent/models/registry-options.js';
import { ruleOfTwo } from '../guard/foresee.js';
import { checkPlan } from '../plan/checks.js';
import type { Security } from '../plan/security.js';
import { NO_BINDINGS, type Plan, type Bindings } from '../plan/plan.js';
import { askedOf } from '../plan/security-at.js';
import type { Runnable } from './options.js';
import { compile, type CompiledPlan } from '../engine/graph/compile.js';

/**
 * Returns the plan of a workflow after checking it.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with all problems in `details.problems`
 */
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
 * Checks that every agent and every supervisor resolves to a model, without a call. If one model replaces all, problems have no place.
 *
 * @throws SkeinError `SKEIN_NO_MODEL`, `SKEIN_NO_KEY`, `SKEIN_MODEL_UNKNOWN`, with all problems in `details.problems`
 */
export async function checkModels(
  plan: Plan,
  models: ModelRegistry,
  { replaced, security }: { readonly replaced: boolean; readonly security: Security | undefined },
): Promise<void> {
  const problems = new Map<string, Problem>();
  let first: SkeinError | undefined;
  for (const { node, path, agent } of askedOf(plan, security)) {
    try {
      await models.resolve(agent, { path, agent: agent.name });
    } catch (error) {
      if (!SkeinError.isInstance(error) || error.details !== undefined) throw error;
      first ??= error;
      const { code, message, hint } = error;
      const known = problems.get(message);
      if (known !== undefined) continue;
      const at = node.at === undefined || replaced ? {} : { at: node.at };
      problems.set(message, { code, severity: 'error', message, ...at, ...(hint === undefined ? {} : { hint }) });
    }
  }
  if (first === undefined) return;
  const details = asJson({ problems: [...problems.values()] });
  throw new SkeinError(first.code, [...problems.keys()].join('; '), { ...toErrorData(first), details });
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

/**
 * Checks that every model that may be called under a budget in dollars has a price.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with all problems in `details.problems`
 */
export async function checkPriced(
  plan: Plan,
  models: ModelRegistry,
  { limits, security }: { readonly limits: readonly Limit[]; readonly security: Security | undefined },
): Promise<void> {
  const inDollars = limits.filter(({ budget }) => needsPrices(budget));
  if (inDollars.length === 0) return;
  const problems = new Map<string, Problem>();
  for (const { node, path, agent } of askedOf(plan, security)) {
    const limit = inDollars.find((one) => holdsAt(one.path, path));
    if (limit === undefined) continue;
    for (const model of await models.resolve(agent, { path, agent: agent.name })) {
      const { worst } = await priceOfModel(model, models.prices);
      if (problems.has(model.id) || worst(ONE_TOKEN) !== undefined) continue;
      problems.set(model.id, { ...noPrice(model.id, limit.name), ...present({ at: node.at }) });
    }
  }
  if (problems.size > 0) throw definitionError([...problems.values()]);
}

const ONE_TOKEN: Usage = { inputTokens: 1, outputTokens: 1 };

function asJson(value: unknown): Json {
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
