import type { ErrorData } from '../base/errors.js';
import type { Census, RunOutcome, StepReport } from '../events/census.js';
import type { Spending } from '../events/spending.js';
import type { Label } from '../guard/label.js';
import type { OpenQuestion } from '../events/question.js';

/** What a run gives back. It never throws for what happens inside of steps. */
export interface RunResult {
  readonly runId: string;
  readonly outcome: RunOutcome;
  /** The final state by channel; also when the run failed (S4). */
  readonly state: Record<string, unknown>;
  /** What the workflow says that it gives (`output.values` of a file), when it came to its end. */
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  /** Why it failed. */
  readonly error?: ErrorData;
  readonly census: Census;
  /** Where values of the state come from, by channel, of those that not only the user had a say in. Absent when there are none. */
  readonly labels?: Readonly<Record<string, Label>>;
  /**
   * Every step that did not simply succeed, with its reason, in the order in which they ended. Nothing is told of what a step around it tried
   * before its last attempt.
   */
  readonly steps: readonly StepReport[];
  /** What the run waits for, when it is paused or out of budget, in the order of asking: questions, and events, which have no `question`. */
  readonly questions: readonly OpenQuestion[];
  /** Steps that succeeded and whose end came from the record. Counted are steps that do work: tasks, agents, questions, waits. */
  readonly reused: number;
  /** Steps that do work and ended here, one way or the other. */
  readonly ran: number;
  /**
   * Calls, tokens and dollars of this session, also of calls that failed, that were cut off, or whose step was done again. What earlier sessions of the
   * run have paid is in its record: `readRun`.
   */
  readonly spent: Spending;
  /** What the calls had cost whose ends came from the record: they were paid before, by this run or by the one that it was forked from. */
  readonly saved: Spending;
}

/** A run that was started. */
export interface RunHandle {
  readonly runId: string;
  readonly result: Promise<RunResult>;
  /** Closes the run as cancelled; running steps are aborted. */
  cancel(reason?: string): void;
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
