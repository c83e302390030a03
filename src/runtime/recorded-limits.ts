import { budgetKey } from '../base/address.js';
import { dayOf, systemClock } from '../base/clock.js';
import { SkeinError } from '../base/errors.js';
import { checkOptions } from '../base/options.js';
import { meantOrKnown } from '../base/suggest.js';
import { addAmounts, NO_AMOUNT } from '../budget/amount.js';
import { BudgetLedger, type Limit, type Standing } from '../budget/ledger.js';
import type { SharedLimit } from '../budget/limits.js';
import { budgetRows } from '../engine/durable/recorded/recorded-budget.js';
import { answeredMore, recordedSpending, recordedWork } from '../engine/durable/recorded/recorded-spending.js';
import { StoreCounts } from '../engine/durable/recorded/store-count.js';
import type { RunHistory } from '../journal/history.js';
import { readHistory } from '../journal/session.js';
import type { Store } from '../journal/store.js';
import { readStored } from '../journal/stored.js';
import { threadRow } from '../journal/thread-rows.js';
import { amountText } from '../plan/budget-text.js';
import { changedBudget, type Budget, type BudgetChange, type BudgetInput } from '../plan/budget.js';
import { NO_SETTINGS, type BudgetSettings, type RunSettings } from '../plan/fields.js';
import type { Plan } from '../plan/plan.js';
import type { RunOptions } from './options.js';
import {
  applied,
  budgetChange,
  joined,
  RUN,
  runLimits,
  sharedIn,
  withChange,
  type LimitChanges,
  type SharingRun,
} from './run-limits.js';

interface GoesOn {
  readonly store: Store;
  readonly plan: Plan;
  readonly before: BudgetSettings | undefined;
  /** Absent if the run is a fork. */
  readonly resumes?: RunHistory | undefined;
}

/**
 * Returns the changes of a run's budget so far, including those beside its record, together with the new one.
 *
 * @throws SkeinError `SKEIN_USAGE` for an invalid budget, one that adds to a missing limit, or one below what is spent
 */
export function budgetSettings(run: GoesOn, budget: BudgetInput | undefined): BudgetSettings | undefined {
  const { store, plan, before, resumes } = run;
  const rows = resumes === undefined ? [] : budgetRows(store, resumes.begin.run);
  const answers = resumes === undefined ? [] : answeredMore(store, resumes);
  let changes: LimitChanges = before?.changes ?? {};
  for (const { limit, change } of [...rows.slice(before?.taken ?? 0), ...answers.slice(before?.answers ?? 0)])
    changes = { ...changes, [limit]: joined(changes[limit], change) };
  if (budget !== undefined) {
    changes = withChange(plan, changes, budget);
    if (resumes !== undefined) checkEnough(store, resumes, applied(plan.budget, changes[RUN]), budgetChange(budget));
  }
  return Object.keys(changes).length === 0 ? undefined : { changes, taken: rows.length, answers: answers.length };
}

/** @throws SkeinError `SKEIN_USAGE` */
function checkEnough(store: Store, history: RunHistory, budget: Budget | undefined, { set, add }: BudgetChange): void {
  const spent = recordedSpending(store, history).reduce((sum, { amount }) => addAmounts(sum, amount), NO_AMOUNT);
  for (const measure of ['usd', 'tokens', 'calls', 'toolCalls'] as const) {
    const limit = set[measure] === undefined && add[measure] === undefined ? undefined : budget?.[measure];
    if (limit === undefined || limit >= spent[measure]) continue;
    const message = `a budget of ${amountText(measure, limit)} is less than the run has spent: ${amountText(measure, spent[measure])}`;
    throw new SkeinError('SKEIN_USAGE', message, {
      hint: 'give more than that, or an amount that comes on top of the limit, such as +0.50',
    });
  }
}

/** The current limits of a recorded run, with its recorded spending and the changes made since. */
function recordedBudget(store: Store, runId: string) {
  const history = readHistory(store, runId);
  const { plan: storedPlan, settings } = history.current;
  const plan = readStored(store, storedPlan) as Plan;
  const { models: flags, budget: before } =
    settings === undefined ? NO_SETTINGS : (readStored(store, settings) as RunSettings);
  const models = JSON.parse(flags) as RunOptions['models'];
  const changes = budgetSettings({ store, plan, before, resumes: history }, undefined)?.changes ?? {};
  const own = runLimits(plan, changes).map((limit) => ({ ...limit, worked: () => recordedWork(history, limit.path) }));
  const counts = new StoreCounts(store, systemClock);
  const limits = [...sharedLimits({ plan, changes, models }, counts, history.begin.thread?.id), ...own];
  const ledger = new BudgetLedger(limits);
  ledger.refresh();
  for (const { path, amount } of recordedSpending(store, history)) ledger.charge(path, amount);
  return { history, plan, changes, limits, standing: ledger.standing() };
}

/**
 * Returns how the limits of a recorded run stand: spent (including what is reserved) and limit. Empty without a budget.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 * @example
 * for (const { name, spent, limit } of readBudget(store, runId)) console.log(name, spent, limit);
 */
export function readBudget(store: Store, runId: string): readonly Standing[] {
  return recordedBudget(store, runId).standing;
}

/**
 * Returns how one limit of a recorded run stands, by its name, `step review`, or the step alone: a line for each amount that it limits.
 *
 * @throws SkeinError `SKEIN_USAGE` for a limit that the run does not have; `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 */
export function readLimit(store: Store, runId: string, limit: string): readonly Standing[] {
  const { limits, standing } = recordedBudget(store, runId);
  const { name } = limitCalled(limits, limit);
  return standing.filter((one) => one.name === name);
}

/** A change of a limit of a recorded run. */
export interface BudgetWish {
  /** An amount that is added, such as `+0.50`, or one that replaces the limit, such as `200k-tokens`. */
  readonly budget: string;
  /** Name of the limit, `step review`, or the step alone. Defaults to the run's limit, or to the only limit on the same measures. */
  readonly limit?: string | undefined;
}

/**
 * Changes the budget of a recorded run, whether or not a process runs it. A running process applies the change within a second; a later
 * resume begins with it. Returns the standing after the change.
 *
 * @throws SkeinError `SKEIN_USAGE` for an invalid amount, a missing limit or too little; `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 * @example
 * changeBudget(store, runId, { budget: '+0.50' });
 */
export function changeBudget(store: Store, runId: string, wish: BudgetWish): readonly Standing[] {
  checkOptions<BudgetWish>('changeBudget', wish, { budget: 'text', limit: 'text' });
  const { budget, limit } = wish;
  const { history, plan, changes, limits } = recordedBudget(store, runId);
  const change = budgetChange(budget);
  const name = limitNamed(limits, change, limit);
  const its = limits.find((one) => one.name === name);
  const after = changedBudget(its?.budget ?? (name === RUN ? applied(plan.budget, changes[RUN]) : undefined), change);
  if (name === RUN) checkEnough(store, history, after, change);
  const row = { id: name, value: JSON.stringify({ limit: name, change }), at: systemClock.now(), by: 'command' };
  // Another process may write a change at the same moment: this change takes the first free number.
  for (let number = 1; !store.answer(runId, { key: budgetKey(number), ...row }); number += 1);
  return recordedBudget(store, runId).standing;
}

/** @throws SkeinError `SKEIN_USAGE` */
function limitCalled(limits: readonly Limit[], name: string): Limit {
  const found = limits.find((one) => one.name === name || one.path === name);
  if (found !== undefined) return found;
  const known = limits.map((one) => one.name);
  throw new SkeinError('SKEIN_USAGE', `the run has no budget '${name}'`, {
    hint: meantOrKnown(name, known, 'budgets of the run'),
  });
}

/** @throws SkeinError `SKEIN_USAGE` */
function limitNamed(limits: readonly Limit[], { add }: BudgetChange, name: string | undefined): string {
  if (name !== undefined) return limitCalled(limits, name).name;
  const fitting = limits.filter(({ budget }) => Object.keys(add).every((measure) => measure in budget));
  return fitting.length === 1 ? (fitting[0]?.name ?? RUN) : RUN;
}

/** The limits per day and thread of a run in a store. `thread` is the thread of the run; without it, thread limits are left out. */
export function sharedLimits(run: SharingRun, counts: StoreCounts, thread: string | undefined): readonly Limit[] {
  return sharedIn(run).flatMap((limit) => {
    const keyAt = keyOf(limit, thread);
    return keyAt === undefined ? [] : [{ ...limit, shared: counts.count(keyAt) }];
  });
}

/** The calendar of this machine decides the day. */
function keyOf({ by, path, workflow }: SharedLimit, thread: string | undefined): ((now: number) => string) | undefined {
  if (by === 'day') return (now) => `day:${dayOf(now)}\n${workflow}`;
  if (thread === undefined) return undefined;
  const key = path === '' ? threadRow(thread) : `${threadRow(thread)}\n${workflow}`;
  return () => key;
}
