import type { ErrorData } from '../base/errors.js';
import type { Census, RunOutcome, StepReport } from '../events/census.js';
import type { Spending } from '../events/spending.js';
import type { Label } from '../guard/label.js';
import type { OpenQuestion } from '../events/question.js';

/** The result of a run. A run never rejects because of what happens inside steps. */
export interface RunResult {
  readonly runId: string;
  readonly outcome: RunOutcome;
  /** The final state by channel, also if the run failed (S4). */
  readonly state: Record<string, unknown>;
  /** The declared outputs of the workflow (`output.values` of a file), if it reached its end. */
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  /** Why the run failed. */
  readonly error?: ErrorData;
  readonly census: Census;
  /** Sources of state values by channel, for values influenced by others than the user. Absent if there are none. */
  readonly labels?: Readonly<Record<string, Label>>;
  /**
   * Every step that did not simply succeed, with its reason, in the order in which they ended. Leaves out what happened inside a step
   * before its last attempt.
   */
  readonly steps: readonly StepReport[];
  /** What a run waits for that is paused or out of budget, in the order of asking: questions, and events, which have no `question`. */
  readonly questions: readonly OpenQuestion[];
  /** Number of steps that succeeded and whose end came from the record. Counts steps that do work: tasks, agents, questions, waits. */
  readonly reused: number;
  /** Number of steps that do work and ended here, with any outcome. */
  readonly ran: number;
  /**
   * Calls, tokens and dollars of this session, including calls that failed, were cut off, or whose step was repeated. Spending of earlier
   * sessions of the run is in its record: `readRun`.
   */
  readonly spent: Spending;
  /** Original cost of calls whose ends came from the record: this run, or the run it was forked from, paid for them before. */
  readonly saved: Spending;
}

/** A started run. */
export interface RunHandle {
  readonly runId: string;
  readonly result: Promise<RunResult>;
  /** Closes the run as cancelled; aborts running steps. */
  cancel(reason?: string): void;
}

/** Reports of steps with their positions in the run; undefined if there are none. */
export type Reports = { readonly order: number; readonly report: StepReport }[] | undefined;

/** Returns the list with one more report; may modify the list. */
export function reported(list: Reports, order: number, report: StepReport): Reports {
  const reports = list ?? [];
  reports.push({ order, report });
  return reports;
}

/** Returns both lists as one; may modify the first. */
export function joined(one: Reports, other: Reports): Reports {
  if (one === undefined || other === undefined) return one ?? other;
  for (const report of other) one.push(report);
  return one;
}

export function inOrder(list: Reports): readonly StepReport[] {
  return (list ?? []).toSorted((one, other) => one.order - other.order).map(({ report }) => report);
}
