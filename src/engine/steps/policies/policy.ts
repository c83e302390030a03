import type { ErrorData } from '../../../base/errors.js';
import type { ReadChannel } from '../../../lang/json-path.js';
import type { LabelledChannel } from '../../../lang/outputs-block.js';
import type { WorkMeter } from '../../../lang/work-meter.js';
import type { Endorser } from '../../../events/trust.js';
import type { Label } from '../../../guard/label.js';
import type { PlanNode } from '../../../plan/plan.js';
import type { Durable, Identity, Question } from '../../ports/durable.js';
import type { Again, ChannelWrite, FailedInside, StepContext } from '../../ports/executor.js';
import type { Phases, SupervisedTask } from '../../ports/supervision.js';
import type { Commitment, Supervisor } from '../../../plan/supervision.js';

/**
 * What a node has around its body (DESIGN.md section 3). A policy knows its node and no step of it: all steps share it, so what it decides is a
 * function of what is recorded, and a replay decides as the run did.
 *
 * Each hook either continues by its last argument, at once or when something that it waits for has come, or ends the matter by a call of the step.
 */
export interface Policy {
  /** Once, before the first attempt and before the start is told: `go` lets the step in. What it throws fails the step, and nothing tries again. */
  enter?(step: PolicedStep, go: () => void): void;
  /** Before each attempt: `go` starts it. */
  begin?(step: PolicedStep, go: () => void): void;
  /** An attempt gave a result: `out` lets it count. Nothing of the attempt runs any more, and no clock. */
  gave?(step: PolicedStep, result: Given, out: () => void): void;
  /** An attempt failed, and the policies further in left it at that; so does `out`. */
  failed?(step: PolicedStep, error: ErrorData, out: (error: ErrorData) => void): void;
  /** A call inside of an attempt failed: says whether that alone is done again. One policy of a node answers at most. */
  readonly again?: (step: CountedStep, failed: FailedInside) => Again;
}

/** What a policy sees of a step. */
export interface PolicedStep {
  /** Key of the attempt. What a policy does in addition to the body has the key `KEY@name`. */
  readonly key: string;
  /** What becomes of the attempt depends on it. Asked only where that is recorded. */
  readonly identity: Identity;
  /** Label of what it gives: of all that had a say in it. */
  readonly givenLabel: Label;
  /** From 1. */
  readonly attempt: number;
  /** From 1: attempts since the last correction up to this one, and calls that were made again inside of those before it. */
  readonly tries: number;
  /** How often calls inside of this attempt were made again: of steps beside each other the most of one. */
  repeats: number;
  /** Belongs to the policy `supervise`. */
  supervised: Supervised | undefined;
  readonly run: WorkMeter & { readonly durable: Durable };
  /** What a block of outputs shows. */
  readonly labelled: readonly LabelledChannel[];
  /** The state that it sees, for a function of a user. */
  view(fn?: unknown): Readonly<Record<string, unknown>>;
  /** The state that it sees, for templates and conditions. */
  reader(): ReadChannel;
  /** Runs a clock beside the attempt. */
  addClock(clock: Clock): void;
  skip(reason: string): void;
  /** This attempt fails. */
  fail(error: ErrorData): void;
  /** The next attempt, in so many milliseconds; `error` is what ended this one. */
  retryAfter(delayMs: number, error: ErrorData): void;
  /** The next attempt, at once. */
  tryAgain(): void;
  /** It fails, and nothing tries again. */
  failForGood(error: ErrorData): void;
  pause(question: Question, reason: string): void;
  /** Asks a person, under the key `KEY@name`; `done` gets the answer. Nobody there: it pauses. */
  ask(name: string, question: Question, done: (answer: unknown) => void): void;
  /** What it gives is vetted from here on: by a person all of it, by a schema its result alone. */
  endorsed(by: Endorser): void;
  /** Has a phase of the supervision done, in a slot; `done` gets what came of it unless the step is over by then. What it throws fails the step for good. */
  consult<T>(phase: (phases: Phases, context: StepContext) => Promise<T>, done: (given: T) => void): void;
}

/** What counts its attempts. */
export type CountedStep = Pick<PolicedStep, 'key' | 'tries' | 'repeats' | 'run'>;

/** What a body gave. */
export interface Given {
  readonly output: unknown;
  /** Where it said to go on. */
  readonly goto: unknown;
  /** What it writes beside its output. */
  readonly writes: readonly ChannelWrite[] | undefined;
}

/** What is known of a supervised step between its attempts. */
export interface Supervised {
  readonly task: SupervisedTask;
  readonly commitment: Commitment;
  /** How many there were, and the last of them. */
  corrections: number;
  correction: string | undefined;
  /** The attempt that was corrected last; 0: none was. */
  corrected: number;
  /** The attempt called something that has `effect: once`. */
  once: boolean;
}

/** What runs beside one attempt. Time spent paused counts toward no policy. */
export interface Clock {
  /** A question inside of the attempt is open: it stands still until {@link resume} was called as often. */
  stop(): void;
  resume(): void;
  /** The attempt is over, however it ended. */
  close(): void;
}

/** Gives the policy of a node; undefined when the node has none of this kind. */
export type PolicyMaker = (node: PlanNode, bound: Bound) => Policy | undefined;

/** What a policy finds in the bindings; throws for what is not there. */
export interface Bound {
  fn(key: string): unknown;
  supervisor(key: string): Supervisor;
}
