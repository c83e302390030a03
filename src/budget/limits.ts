import { present } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import type { Budget } from '../plan/budget.js';
import { nodesOf } from '../plan/nodes.js';
import type { Plan } from '../plan/plan.js';
import type { Limit } from './account.js';

/**
 * Returns the limits of a run of a plan. An outer limit precedes the limits inside it. `budget`: replaces the plan's budget for the run.
 * `limitsOf(plan)` returns `[{ name: 'run', path: '', budget: { usd: 0.5 } }, { name: 'step scan', path: 'scan', budget: { calls: 9 } }]`.
 */
export function limitsOf(plan: Plan, budget: Budget | undefined = plan.budget): readonly Limit[] {
  const limits: Limit[] = budget === undefined ? [] : [{ name: 'run', path: '', budget }];
  for (const { node, path } of nodesOf(plan)) {
    if (node.budget !== undefined) limits.push({ name: `step ${path}`, path, budget: node.budget });
    const inner = 'plan' in node ? node.plan.budget : undefined;
    if (inner !== undefined) limits.push({ name: `workflow ${path}`, path, budget: inner });
  }
  return limits;
}

export interface SharedLimit extends Limit {
  readonly by: 'day' | 'thread';
  readonly workflow: string;
}

/** The limits per day and per thread of a plan and of the workflows inside it. */
export function sharedLimitsOf(plan: Plan, budget: Budget | undefined = plan.budget): readonly SharedLimit[] {
  const inner = [...nodesOf(plan)].flatMap(({ node, path }) => ('plan' in node ? [{ ...node.plan, path }] : []));
  return [{ name: plan.name, budget, path: '' }, ...inner].flatMap(({ name: workflow, budget: own = {}, path }) =>
    (['day', 'thread'] as const).flatMap((by): SharedLimit[] => {
      const { onLimit, unpriced, strict } = own;
      const name = path === '' ? by : `${by} of workflow ${path}`;
      const limits = own[by];
      return limits === undefined
        ? []
        : [{ name, path, budget: { ...present({ onLimit, unpriced, strict }), ...limits }, by, workflow }];
    }),
  );
}

/** Whether a limit applies to a node. Paths are node ids from the outermost in. */
export function holdsAt(limit: string, node: string): boolean {
  return limit === '' || node === limit || node.startsWith(`${limit}/`);
}

/** Whether a budget forbids calls of models without a price. */
export function needsPrices({ usd, day, thread, unpriced: how }: Budget): boolean {
  return how !== 'allow' && [usd, day?.usd, thread?.usd].some((limit) => limit !== undefined);
}

export function noPrice(model: string, limit: string): Problem {
  const message = `the price of ${model} is unknown, and the ${limit} has a budget in dollars`;
  const hint = 'give it with --prices FILE, the option prices in code, or write unpriced: allow into the budget';
  return { code: 'no-price', severity: 'error', message, hint };
}
