import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import type { Census, RunOutcome, StepOutcome } from '../events/census.js';
import type { OpenQuestion } from '../events/question.js';
import type { ModelSpending, Spending } from '../events/spending.js';
import type { StepAccount } from '../events/step-fold.js';
import type { DecidedCall, Endorsement, TrustFacts } from '../events/trust.js';
import type { RunWarning } from './overview-fold.js';

export type { OpenQuestion } from '../events/question.js';
export type { RunMoment } from './overview-moments.js';

/**
 * The status of a run: in progress; its process died (`interrupted`), so it can be resumed; or the outcome of its last session.
 */
export type RunStatus = 'running' | 'interrupted' | RunOutcome;

/**
 * The contents of a run's record. Times are milliseconds since 1970, durations milliseconds. Calls and tokens are those of this run itself,
 * without those of a parent.
 */
export interface RunOverview extends Spending {
  readonly id: string;
  /** Name of the workflow. */
  readonly name: string;
  readonly status: RunStatus;
  readonly beganAt: number;
  /** End of its last session; absent while it runs. */
  readonly endedAt?: number;
  /** Milliseconds of all sessions together, without the time between them. */
  readonly ms: number;
  /** Why the run did not succeed. */
  readonly error?: ErrorData;
  readonly census?: Census;
  /** The run that it was forked from, the steps of which nothing was taken over, and the keys of results that the fork set, if any. */
  readonly parent?: { readonly id: string; readonly forgotten: readonly string[]; readonly set?: readonly string[] };
  /** Flags and file of its start. */
  readonly origin: JsonObject;
  readonly inputs: Json;
  readonly sessions: readonly SessionOverview[];
  /** In the order of their start. Includes steps that only contain others if they did not succeed. */
  readonly steps: readonly StepOverview[];
  /** Answered calls, by model. */
  readonly models: readonly ModelSpending[];
  /** Open questions and events. None if the run is cancelled: it asks again when it is resumed. */
  readonly questions: readonly OpenQuestion[];
  readonly warnings: readonly RunWarning[];
  /** Agents' calls that a person had to allow, or that were refused, because of what influenced them. */
  readonly guarded: readonly DecidedCall[];
  /** Results endorsed by a person or a schema, in order of endorsement. */
  readonly endorsed: readonly Endorsement[];
  /** Describes an incomplete end of the record that was left out. */
  readonly cut?: string;
}

/** One process that ran the run. Times are milliseconds since 1970. */
export interface SessionOverview {
  readonly beganAt: number;
  readonly endedAt?: number;
  readonly status: RunStatus;
}

/** The recorded data of a step. */
export interface StepOverview extends StepAccount {
  readonly path: string;
  /** Id of its node. */
  readonly node: string;
  /** Kind of its node; absent if the plan no longer has the node. */
  readonly kind?: string;
  /** `interrupted` if its end is not recorded. */
  readonly outcome: StepOutcome | 'running' | 'interrupted';
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Milliseconds from its start to its end, without the time between sessions. */
  readonly ms: number;
  readonly models: readonly string[];
  /** What influenced the step; absent if only the user did. */
  readonly label?: TrustFacts;
  /** The output of the step; only if requested. */
  readonly output?: Json;
  /** The run that the step was taken over from, which paid for its tokens. */
  readonly from?: string;
  /** The keys of the state whose values a fork set, in place of what the step gave. */
  readonly set?: readonly string[];
}
