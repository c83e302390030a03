import { SkeinError, toErrorData } from '../base/errors.js';
import { present } from '../base/json.js';
import { definitionError, type Problem } from '../base/problem.js';
import { priceOfModel } from '../agent/loop/call-cost.js';
import type { ModelRegistry } from '../agent/models/registry-options.js';
import type { Limit } from '../budget/ledger.js';
import { holdsAt, needsPrices, noPrice } from '../budget/limits.js';
import type { Usage } from '../events/event.js';
import type { PlacedNode } from '../plan/nodes.js';
import { traitsOf } from '../plan/notations.js';
import type { Plan } from '../plan/plan.js';
import { askedOf } from '../plan/security-at.js';
import type { Security } from '../plan/security.js';
import { asJson } from './checked-plan.js';

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
  for (const place of askedOf(plan, security)) {
    const { node, path, agent } = place;
    try {
      await models.resolve(agent, { path, agent: agent.name });
    } catch (error) {
      if (!SkeinError.isInstance(error) || error.details !== undefined) throw error;
      first ??= error;
      const { code, message } = error;
      const known = problems.get(message);
      if (known !== undefined) continue;
      const hint = code === 'SKEIN_NO_MODEL' ? hintInFile(error, place, plan) : error.hint;
      const at = node.at === undefined || replaced ? {} : { at: node.at };
      problems.set(message, { code, severity: 'error', message, ...at, ...(hint === undefined ? {} : { hint }) });
    }
  }
  if (first === undefined) return;
  const details = asJson({ problems: [...problems.values()] });
  throw new SkeinError(first.code, [...problems.keys()].join('; '), { ...toErrorData(first), details });
}

/** Called files don't get the models of the file that calls them, so the hint names the key of the called one. */
function hintInFile({ hint }: SkeinError, { node, plan: around }: PlacedNode, whole: Plan): string | undefined {
  const file = node.at?.file;
  const { models } = traitsOf(around.notation);
  const isCalled = whole.nodes.every(({ at }) => at?.file !== file);
  if (file === undefined || models === undefined || !isCalled) return hint;
  return [`name one in ${models} of ${file}`, hint ?? []].flat().join(', or ');
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
