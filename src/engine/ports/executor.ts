import type { ErrorData } from '../../base/errors.js';
import type { Asking, Spent, StepNote } from '../../events/event.js';
import type { GuideOf } from '../../plan/guide.js';
import type { Bindings, PlanNode } from '../../plan/plan.js';
import type { JsonTemplate, Template, ValueRef } from '../../lang/values.js';
import type { Influence, Question, StepIo } from './durable.js';
import type { Identity, StepOptions } from './recording.js';
import type { Label } from '../../guard/label.js';
import type { ClearedCall, FreedArguments, NodeCall } from '../../plan/tool-use.js';

/**
 * Runs one kind of node. An executor is deterministic between its awaits: it awaits promises of its {@link StepContext}, and uses no timer,
 * clock or randomness of the host (J1). It returns its outcome instead of throwing (E10); a throw still counts as a failure.
 */
export type Executor<N extends PlanNode = PlanNode> = (node: N, step: StepContext) => Promise<Result>;

/**
 * The result of an executor. `output` goes to the channel `node.output`, or is the update if the node has none; `goto` is the next node if
 * the node has a route `choose: 'result'`.
 */
export type Result =
  | {
      readonly type: 'done';
      readonly output: unknown;
      readonly goto?: string | undefined;
      /** Further writes, in this order. `undefined` clears a channel. */
      readonly writes?: readonly ChannelWrite[] | undefined;
    }
  | { readonly type: 'failed'; readonly error: ErrorData }
  /** The run reached a bound: it ends, whatever policies and handlers are set, and keeps the writes. */
  | { readonly type: 'out_of_budget'; readonly error: ErrorData; readonly writes?: readonly ChannelWrite[] | undefined }
  | { readonly type: 'paused'; readonly question: Question; readonly reason: string }
  | { readonly type: 'skipped'; readonly reason: string };

/** A value for a channel. */
export interface ChannelWrite {
  readonly channel: string;
  readonly value: unknown;
}

/** An executor's view of the run: the causal state, and the one door to the outside (J1). */
export interface StepContext {
  readonly runId: string;
  /** Address of this step, `review/loop#3/critic`. */
  readonly path: string;
  readonly node: PlanNode;
  /** The notation of the plan, for messages. */
  readonly notation?: string | undefined;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The correction by a supervisor or a person of the attempt before, of this step or of one around it. Belongs in every prompt. */
  readonly correction?: string | undefined;
  /** The agent's functions that are tools, by tool name. */
  readonly tools: Bindings;
  /** The agent's functions that check its texts, by name. */
  readonly checks?: Bindings | undefined;
  /** Creates the agent's guide, if its choice is code. */
  readonly guide?: GuideOf | undefined;
  /** What influences this step. */
  readonly influence: Influence;
  /** Reads the state that this step sees (S2); undefined if no step upstream wrote the value. */
  read(ref: ValueRef): unknown;
  /** Reads a channel. Of a list, reads at least the last `count` entries; a shorter result is the whole list. */
  readEnd(channel: string, count: number): unknown;
  /** Whether a channel has a reducer, which folds what is written to it. */
  isReduced(channel: string): boolean;
  /**
   * A read-only view of the state that this step sees, for code of the program. Its reads become part of the identity of the effect that
   * used it.
   */
  watch(): StateWatch;
  /** Renders a template in one pass. */
  render(template: Template): string;
  /** The value of a JSON template; undefined if the template is a reference that leads to nothing. */
  renderJson(source: JsonTemplate): unknown;
  /**
   * Runs a side effect and records it under `PATH@name`; names are unique within an attempt. Rejects with a SkeinError. The result is JSON.
   * If a result with the same `identity` is recorded under this name, the effect does not run. With `timeoutMs`, an effect that takes
   * longer is aborted and rejects with `SKEIN_TIMEOUT`.
   */
  effect<T>(name: string, effect: (io: StepIo) => T | Promise<T>, options?: EffectOptions): Promise<T>;
  /** Reports that the attempt called something with `effect: once` outside an effect of its own. */
  callsOnce(): void;
  /** A model call starts. If the attempt ends before the end of the call is noted, the call counts as failed, having spent `reserved`. */
  underWay(call: CallUnderWay): void;
  /** An effect in progress heard something with this label. It counts if the attempt ends before the outcome of the effect says so. */
  hears(label: Label): void;
  /** Waits, by the run's clock. */
  sleep(name: string, ms: number): Promise<void>;
  /**
   * The decision of the nearest `retry` policy, of this step or a step around it, on a failed call inside. A repeated call uses one of the
   * policy's attempts and follows {@link backoff}. Undefined if no such policy exists.
   */
  again(failed: FailedCall): Again | undefined;
  /** Waits between two attempts of a call, by the run's clock. Does not count toward the timeout of the step. */
  backoff(name: string, ms: number): Promise<void>;
  /**
   * Asks a person. Rejects with `SKEIN_QUESTION` if nobody can answer in this session; an executor turns that into a pause. The answer is
   * text, or matches the question's schema.
   */
  ask(name: string, question: Question, how?: AskOptions): Promise<unknown>;
  /** Whether the outcome of an effect comes from the run that this one was forked from, so that it is not performed here. */
  isTaken(name: string, identity: Identity): boolean;
  /** Whether the record has an outcome of an effect, or an answer to a question, of this name and, if one is given, this identity. */
  isRecorded(name: string, identity?: Identity): boolean;
  /** Sends a note to observers; never needed for correctness. `again`: the note comes from the record, even if the run does not replay. */
  note(note: StepNote, again?: boolean): void;
  /** Milliseconds since 1970 by the run's clock. */
  now(): number;
  /** Milliseconds in which the run has worked so far: see `Durable`. */
  worked(): number;
  /** Digest of the node's definition (J2), for the identities of its effects. */
  definition(): string;
  /** A number in [0, 1), the same on every replay and in every fork. */
  random(): number;
}

/** A model call in progress. */
export interface CallUnderWay {
  readonly asking: Asking;
  /** The most that the call is expected to spend; may be computed when read. */
  readonly reserved: Spent;
}

/** How an effect of an executor is recorded, and its time limit in milliseconds of the run's clock. */
export interface EffectOptions extends StepOptions {
  readonly timeoutMs?: number;
}

/** How an executor asks a question. */
export interface AskOptions {
  /** Called first, with the source of the answer. */
  readonly answered?: (by: string | undefined) => void;
  /** Milliseconds until the question expires and rejects with `SKEIN_TIMEOUT`. */
  readonly expiresMs?: number;
  /** True if the expiry is an answer, with which the step continues. */
  readonly hasDefault?: true;
}

/** A failed call inside a step that may succeed when repeated. */
export interface FailedCall {
  readonly error: ErrorData;
  /** How often calls of this attempt have been repeated so far. */
  readonly repeats: number;
  /** Name of the {@link StepContext.backoff} before the next attempt. */
  readonly pause: string;
  /** True if the call belongs to the step's supervision, where each call has the attempts of the step. */
  readonly judging: boolean;
}

/** A failed call inside a step; its key is that of the wait before the next attempt. */
export interface FailedInside extends Omit<FailedCall, 'pause'> {
  readonly key: string;
}

/** Whether a failed call is repeated, and after how many milliseconds. */
export type Again = { readonly delayMs: number } | 'never';

/** A view of a state, with the reads made through it. They influence the step, and so do those of a record that is used instead. */
export interface StateWatch extends Required<Pick<Identity, 'reads' | 'current' | 'reused'>> {
  readonly state: Readonly<Record<string, unknown>>;
  /** What the effect had read is not known any more: its outcome holds only for the same state. */
  lostReads(): void;
}

/** Executors by node kind. `run` has those of agents and tools; `startRun` only those it is given. */
export type Executors = Readonly<Partial<Record<PlanNode['kind'], Executor<never>>>>;

/** What a guard receives about a step whose function makes a call. */
export interface GuardedStep {
  readonly context: StepContext;
  /** Belongs to the effect that runs the function. */
  readonly io: StepIo;
  /** Asks a person, under the address used for questions of the guard. */
  readonly ask: (question: Question) => Promise<unknown>;
}

/** Decides about tool calls that functions of steps make directly. */
export interface NodeGuard {
  /**
   * Decides by what influenced the step. Undefined if the call may be made as it is, else a function that decides, asking people if needed.
   *
   * @throws SkeinError `SKEIN_TOOL_REFUSED`
   */
  clear(
    call: NodeCall,
    label: Label,
    by: { readonly id: string; readonly path: string; readonly caller: () => string },
  ): ((step: GuardedStep) => Promise<ClearedCall>) | undefined;
  /** Restores the arguments that a person left free in a step whose record is used. */
  free(caller: string, freed: readonly FreedArguments[]): void;
}

/** Milliseconds after which an answer to a guard's question is too late: the facts behind the call may have changed. */
export const GUARD_EXPIRES_MS = 7 * 24 * 60 * 60 * 1_000;
