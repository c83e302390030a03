import { nodesOf } from './nodes.js';
import type { Plan } from './plan.js';

/**
 * Returns the files of the scripts among models.
 *
 * @example
 * scriptsAmong(['openai/gpt-5', 'script/answers.yaml']); // ['answers.yaml']
 */
export function scriptsAmong(models: readonly string[]): readonly string[] {
  const names = models.map((model) => model.trim());
  return names.filter((name) => /^script\//i.test(name)).map((name) => name.slice('script/'.length));
}

/** Returns the models that the budgets of a plan, and of all inside it, name for when they are short. */
export function modelsOfBudgets(plan: Plan): readonly string[] {
  const inside = [...nodesOf(plan)].flatMap(({ node }) => [node.budget, 'plan' in node ? node.plan.budget : undefined]);
  return [plan.budget, ...inside].flatMap((budget) =>
    typeof budget?.onLimit === 'object' ? [budget.onLimit.model] : [],
  );
}
