import { SkeinError } from '../base/errors.js';
import { limitsOf, sharedLimitsOf, type SharedLimit } from '../budget/limits.js';
import type { Limit } from '../budget/ledger.js';
import { BUDGET, changedBudget, type Budget, type BudgetChange, type BudgetInput } from '../plan/budget.js';
import { unknownBudgetKey } from '../plan/check-policies.js';
import { parseBudget, type BudgetAmounts, type Measure } from '../plan/budget-text.js';
import type { BudgetSettings } from '../plan/fields.js';
import type { Plan } from '../plan/plan.js';
import type { RunOptions } from './options.js';

export const RUN = 'run';

export type LimitChanges = BudgetSettings['changes'];

/** @throws SkeinError `SKEIN_USAGE` for an invalid budget */
export function budgetChange(input: BudgetInput): BudgetChange {
  if (typeof input !== 'object') return parseBudget(String(input));
  const [first] = BUDGET(input) ?? [];
  const unknown = first === undefined ? unknownBudgetKey(input) : undefined;
  if (unknown !== undefined) {
    const { key, hint } = unknown;
    throw new SkeinError('SKEIN_USAGE', `a budget has no ${JSON.stringify(key)}`, { hint });
  }
  if (first === undefined) return { set: input, add: {} };
  throw new SkeinError('SKEIN_USAGE', `budget${first.path} ${first.message}`, {
    hint: "run(workflow, { budget: { usd: 0.5, calls: 20 } }), or '0.50'",
  });
}

export function firstChanges(plan: Plan, budget: BudgetInput | undefined): LimitChanges {
  return budget === undefined ? {} : withChange(plan, {}, budget);
}

/**
 * Adds the budget given for the whole run to the changes.
 *
 * @throws SkeinError `SKEIN_USAGE` for an invalid budget, or one that adds to a missing limit
 */
export function withChange(plan: Plan, changes: LimitChanges, budget: BudgetInput): LimitChanges {
  const asked = budgetChange(budget);
  changedBudget(applied(plan.budget, changes[RUN]), asked);
  return { ...changes, [RUN]: joined(changes[RUN], asked) };
}

/** Combines two successive changes: a measure that is set replaces what was added to it before. */
export function joined(before: BudgetChange | undefined, { set, add }: BudgetChange): BudgetChange {
  if (before === undefined) return { set, add };
  const sums: Partial<Record<Measure, number>> = {};
  for (const [measure, more] of amountsIn(before.add)) if (set[measure] === undefined) sums[measure] = more;
  for (const [measure, more] of amountsIn(add)) sums[measure] = (sums[measure] ?? 0) + more;
  return { set: { ...before.set, ...set }, add: sums };
}

function amountsIn(amounts: BudgetAmounts): readonly [Measure, number][] {
  return Object.entries(amounts) as [Measure, number][];
}

/** Applies a change to a budget. An addition to a limit that the plan no longer has is ignored. */
export function applied(budget: Budget | undefined, change: BudgetChange | undefined): Budget | undefined {
  if (change === undefined) return budget;
  const { set, add } = change;
  const known = amountsIn(add).filter(([measure]) => set[measure] !== undefined || budget?.[measure] !== undefined);
  return changedBudget(budget, { set, add: Object.fromEntries(known) });
}

/** The limits of a run: those of its plan with the changes applied. */
export function runLimits(plan: Plan, changes: LimitChanges): readonly Limit[] {
  return limitsOf(plan, applied(plan.budget, changes[RUN])).map((limit) =>
    limit.name === RUN ? limit : { ...limit, budget: applied(limit.budget, changes[limit.name]) ?? limit.budget },
  );
}

export interface SharingRun {
  readonly plan: Plan;
  readonly changes: LimitChanges;
  readonly models: RunOptions['models'];
}

/** @throws SkeinError `SKEIN_USAGE` for limits per day and per thread without a store to count in */
export function checkShared(run: SharingRun): void {
  const [limit] = sharedIn(run);
  if (limit === undefined) return;
  const what = limit.by === 'day' ? 'a calendar day' : 'a thread';
  throw new SkeinError(
    'SKEIN_USAGE',
    `the workflow '${limit.workflow}' limits what its runs spend on ${what}, and this run is not recorded`,
    {
      hint: `record it: leave out --no-store, in code run(workflow, { store }); or take "${limit.by}" out of the budget`,
    },
  );
}

/** The limits that a run shares with others. Empty with a mock, a script or a recording: those cost nothing, so nothing counts. */
export function sharedIn({ plan, changes, models }: SharingRun): readonly SharedLimit[] {
  if (models?.mock === true || models?.script !== undefined || models?.replay !== undefined) return [];
  return sharedLimitsOf(plan, applied(plan.budget, changes[RUN])).map((limit) => ({
    ...limit,
    budget: applied(limit.budget, changes[limit.name]) ?? limit.budget,
  }));
}
