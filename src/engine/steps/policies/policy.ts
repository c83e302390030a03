import type { ErrorData } from '../../../base/errors.js';
import type { ReadChannel } from '../../../lang/json-path.js';
import type { LabelledChannel } from '../../../lang/outputs-block.js';
import type { WorkMeter } from '../../../lang/work-meter.js';
import type { Endorser } from '../../../events/trust.js';
import type { Label } from '../../../guard/label.js';
import type { ItemError, PlanNode } from '../../../plan/plan.js';
import type { Durable, Question } from '../../ports/durable.js';
import type { Identity } from '../../ports/recording.js';
import type { Again, ChannelWrite, FailedInside, StepContext } from '../../ports/executor.js';
import type { Phases, SupervisedTask } from '../../ports/supervision.js';
import type { Commitment, Supervisor } from '../../../plan/supervision.js';

/**
 * A layer around the body of a node (DESIGN.md section 3). A policy knows its node but none of its steps, which all share it: its decisions
 * are a function of what is recorded, so a replay decides like the run.
 *
 * Each hook either continues through its last argument, at once or after a wait, or settles the matter by a call of the step.
 */
export interface Policy {
  /** Called once, before the first attempt and the start event: `go` lets the step in. An error fails the step without a retry. */
  enter?(step: PolicedStep, go: () => void): void;
  /** Called before each attempt: `go` starts it. */
  begin?(step: PolicedStep, go: () => void): void;
  /** Called after an attempt returned a result: `out` accepts it. Nothing of the attempt runs any more, including its clocks. */
  gave?(step: PolicedStep, result: Given, out: () => void): void;
  /** Called after an attempt failed and the inner policies passed the failure on; `out` passes it on further. */
  failed?(step: PolicedStep, error: ErrorData, out: (error: ErrorData) => void): void;
  /** Decides whether a failed call inside an attempt is repeated on its own. At most one policy of a node has it. */
  readonly again?: (step: CountedStep, failed: FailedInside) => Again;
}

/** A step as seen by a policy. */
export interface PolicedStep {
  /** Key of the attempt. What a policy does in addition to the body has the key `KEY@name`. */
  readonly key: string;
  /** What the outcome of the attempt depends on. Read only if outcomes are recorded. */
  readonly identity: Identity;
  /** Label of the result: of everything that influenced it. */
  readonly givenLabel: Label;
  /** Failed items of a map. */
  readonly itemErrors: readonly ItemError[];
  /** From 1. */
  readonly attempt: number;
  /** From 1: attempts since the last correction up to this one, plus repeated calls inside the earlier ones. */
  readonly tries: number;
  /** How often calls inside this attempt were repeated: of parallel steps, the maximum. */
  repeats: number;
  /** Belongs to the policy `supervise`. */
  supervised: Supervised | undefined;
  readonly run: WorkMeter & { readonly durable: Durable };
  /** The content of an outputs block. */
  readonly labelled: readonly LabelledChannel[];
  /** The state that the step sees, for a user's function. */
  view(fn?: unknown): Readonly<Record<string, unknown>>;
  /** The state that the step sees, for templates and conditions. */
  reader(): ReadChannel;
  /** Runs a clock beside the attempt. */
  addClock(clock: Clock): void;
  skip(reason: string): void;
  /** Fails this attempt. */
  fail(error: ErrorData): void;
  /** Starts the next attempt after this many milliseconds; `error` is what ended this one. */
  retryAfter(delayMs: number, error: ErrorData): void;
  /** Starts the next attempt at once. */
  tryAgain(): void;
  /** Fails the step without a retry. */
  failForGood(error: ErrorData): void;
  pause(question: Question, reason: string): void;
  /** Asks a person, under the key `KEY@name`; `done` receives the answer. Pauses if nobody can answer. */
  ask(name: string, question: Question, done: (answer: unknown) => void): void;
  /** Endorses the result: a person endorses all of it, a schema only the output. */
  endorsed(by: Endorser): void;
  /** Runs a phase of supervision in a slot; `done` receives its result unless the step is over. An error fails the step for good. */
  consult<T>(phase: (phases: Phases, context: StepContext) => Promise<T>, done: (given: T) => void): void;
}

/** The part of a step that counts its attempts. */
export type CountedStep = Pick<PolicedStep, 'key' | 'tries' | 'repeats' | 'run'>;

/** The result of a body. */
export interface Given {
  readonly output: unknown;
  /** The next nodes that it chose. */
  readonly goto: unknown;
  /** The writes beside its output. */
  readonly writes: readonly ChannelWrite[] | undefined;
}

/** The state of a supervised step between its attempts. */
export interface Supervised {
  readonly task: SupervisedTask;
  readonly commitment: Commitment;
  /** Number of corrections, and the last of them. */
  corrections: number;
  correction: string | undefined;
  /** The attempt that was corrected last; 0 if none was. */
  corrected: number;
  /** True if the attempt called something with `effect: once`. */
  once: boolean;
}

/** A clock that runs beside one attempt. Paused time counts toward no policy. */
export interface Clock {
  /** A question inside the attempt is open: the clock stops until {@link resume} is called an equal number of times. */
  stop(): void;
  resume(): void;
  /** The attempt is over, with any outcome. */
  close(): void;
}

/** Creates the policy of a node; undefined if the node does not have it. */
export type PolicyMaker = (node: PlanNode, bound: Bound) => Policy | undefined;

export interface Bound {
  fn(key: string): unknown;
  supervisor(key: string): Supervisor;
}
