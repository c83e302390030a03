import type { ErrorData } from '../base/errors.js';
import type { Census } from '../events/census.js';
import type { RunOutcome } from '../events/outcome.js';
import type { OpenQuestion } from '../events/question.js';
import type { StepReport } from './steps/reports.js';

/** What a run gives back. It never throws for what happens inside of steps. */
export interface RunResult {
  readonly runId: string;
  readonly outcome: RunOutcome;
  /** The final state by channel; also when the run failed (S4). */
  readonly state: Record<string, unknown>;
  /** Why it failed. */
  readonly error?: ErrorData;
  readonly census: Census;
  /**
   * Every step that did not simply succeed, with its reason, in the order in which they ended. Nothing is told of what a step around it tried
   * before its last attempt.
   */
  readonly steps: readonly StepReport[];
  /** What the run waits for, when it is paused, in the order of asking: questions, and events, which have no `question`. */
  readonly questions: readonly OpenQuestion[];
  /** Steps that succeeded and whose end came from the record. Counted are steps that do work: tasks, agents, questions, waits. */
  readonly reused: number;
  /** Steps that do work and ended here, one way or the other. */
  readonly ran: number;
}

/** A run that was started. */
export interface RunHandle {
  readonly runId: string;
  readonly result: Promise<RunResult>;
  /** Closes the run as cancelled; running steps are aborted. */
  cancel(reason?: string): void;
}
