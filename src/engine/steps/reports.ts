import type { ErrorData } from '../../base/errors.js';
import type { StepOutcome } from '../../events/outcome.js';

/** What is reported of a step that did not simply succeed, in the result of a run. */
export interface StepReport {
  readonly path: string;
  readonly node: string;
  readonly outcome: StepOutcome;
  /** Why it was skipped or paused. */
  readonly reason?: string;
  readonly error?: ErrorData;
}

/** Reports of steps with their places among all of the run; undefined for none. */
export type Reports = { readonly order: number; readonly report: StepReport }[] | undefined;

/** A list with one more; it may grow. */
export function reported(list: Reports, order: number, report: StepReport): Reports {
  const reports = list ?? [];
  reports.push({ order, report });
  return reports;
}

/** Two lists as one; the first of them may grow. */
export function joined(one: Reports, other: Reports): Reports {
  if (one === undefined || other === undefined) return one ?? other;
  for (const report of other) one.push(report);
  return one;
}

/** The reports in the order in which the steps ended. */
export function inOrder(list: Reports): readonly StepReport[] {
  return (list ?? []).toSorted((one, other) => one.order - other.order).map(({ report }) => report);
}
