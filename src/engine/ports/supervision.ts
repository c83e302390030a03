import type { ErrorData } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import type { PlanNode } from '../../plan/plan.js';
import type { Commitment, Supervision, Supervisor } from '../../plan/supervision.js';
import type { Question } from './durable.js';
import type { StepContext } from './executor.js';

/**
 * The phases of a supervised step. They are deterministic between their effects (J1): everything outside goes through `context.effect` and
 * `context.ask`, whose names follow the key of the attempt: `b@commit`, `b~2@post`, `b~2@supervise`, `b~2@human`. What they throw fails the
 * step, and nothing tries again; `SKEIN_QUESTION` pauses it.
 */
export interface Phases {
  /** Once per step, before the first attempt. */
  commit(task: SupervisedTask, context: StepContext): Promise<Commitment>;
  /** After each attempt that gave a result. */
  judge(attempt: SupervisedAttempt, context: StepContext): Promise<Judgement>;
}

/** Whether an effect of a step is one of its supervision: `post`, `post.open`. */
export function isOfPhase(name: string | undefined): boolean {
  return name !== undefined && PHASE.test(name);
}

const PHASE = /^(?:commit|post|reconcile|supervise|supervisor|human)(?:\.|$)/;

/** A step that is supervised. */
export interface SupervisedTask {
  readonly node: PlanNode;
  readonly supervise: Supervision;
  /** What is promised: the instruction, with the values of this run. */
  readonly goal: string;
  /** What is bound as `supervise:NODE`. */
  readonly supervisor?: Supervisor | undefined;
}

/** An attempt that gave a result. */
export interface SupervisedAttempt extends SupervisedTask {
  readonly commitment: Commitment;
  /** What the body gave. */
  readonly output: Json;
  /** Corrections given so far: 0 for the first attempt that is judged. */
  readonly corrections: number;
  /** The last of them. */
  readonly correction?: string | undefined;
  /** The node has `effect: once`, or the attempt called something that has it: it is not run again unless a person says so. */
  readonly once: boolean;
}

/** What becomes of an attempt. */
export type Judgement =
  | { readonly type: 'accepted' }
  /** The next attempt is told this. */
  | { readonly type: 'corrected'; readonly correction: string }
  /** `SKEIN_HALTED`, `SKEIN_REJECTED`; `details` have output, commitment and assessment. */
  | { readonly type: 'ended'; readonly error: ErrorData }
  | { readonly type: 'paused'; readonly question: Question; readonly reason: string };
