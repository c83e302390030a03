import type { ErrorData } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import type { PlanNode } from '../../plan/plan.js';
import type { Commitment, Supervision, Supervisor } from '../../plan/supervision.js';
import type { Question } from './durable.js';
import type { StepContext } from './executor.js';

/**
 * The phases of a supervised step. They are deterministic between their effects (J1): everything outside goes through `context.effect` and
 * `context.ask`, whose names follow the key of the attempt: `b@commit`, `b~2@post`, `b~2@supervise`, `b~2@human`. An error that they throw
 * fails the step without a retry; `SKEIN_QUESTION` pauses it.
 */
export interface Phases {
  /** Runs once per step, before the first attempt. */
  commit(task: SupervisedTask, context: StepContext): Promise<Commitment>;
  /** Runs after each attempt that returned a result. */
  judge(attempt: SupervisedAttempt, context: StepContext): Promise<Judgement>;
}

/** Whether an effect of a step belongs to its supervision: `post`, `post.open`. */
export function isOfPhase(name: string | undefined): boolean {
  return name !== undefined && PHASE.test(name);
}

const PHASE = /^(?:commit|post|reconcile|supervise|supervisor|human)(?:\.|$)/;

/** A supervised step. */
export interface SupervisedTask {
  readonly node: PlanNode;
  readonly supervise: Supervision;
  /** The promised goal: the instruction, with the values of this run. */
  readonly goal: string;
  /** The supervisor bound as `supervise:NODE`. */
  readonly supervisor?: Supervisor | undefined;
}

/** An attempt that returned a result. */
export interface SupervisedAttempt extends SupervisedTask {
  readonly commitment: Commitment;
  readonly output: Json;
  /** Number of corrections so far: 0 for the first judged attempt. */
  readonly corrections: number;
  /** The last correction. */
  readonly correction?: string | undefined;
  /** True if the node, or something that the attempt called, has `effect: once`: the step runs again only if a person allows it. */
  readonly once: boolean;
}

/** The decision about an attempt. */
export type Judgement =
  | { readonly type: 'accepted' }
  /** The correction goes to the next attempt. */
  | { readonly type: 'corrected'; readonly correction: string }
  /** `SKEIN_HALTED`, `SKEIN_REJECTED`; `details` contain output, commitment and assessment. */
  | { readonly type: 'ended'; readonly error: ErrorData }
  | { readonly type: 'paused'; readonly question: Question; readonly reason: string };
