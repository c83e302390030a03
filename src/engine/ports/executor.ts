import type { ErrorData } from '../../base/errors.js';
import type { Asking, Spent, StepNote } from '../../events/event.js';
import type { GuideOf } from '../../plan/guide.js';
import type { Bindings, PlanNode } from '../../plan/plan.js';
import type { JsonTemplate, Template, ValueRef } from '../../lang/values.js';
import type { Identity, Influence, Question, StepIo, StepOptions } from './durable.js';
import type { Label } from '../../guard/label.js';
import type { ClearedCall, FreedArguments, NodeCall } from '../../plan/tool-use.js';

/**
 * Runs one kind of node. An executor is deterministic between its awaits: what it awaits are promises of its
 * {@link StepContext}, and it uses no timer, clock or randomness of the host (J1). It returns, it does not throw, its outcome (E10);
 * what it throws all the same counts as a failure.
 */
export type Executor<N extends PlanNode = PlanNode> = (node: N, step: StepContext) => Promise<Result>;

/**
 * What an executor gives back. `output` goes to the channel `node.output`, or is the update when the node has none; `goto` is where a node with a
 * route `choose: 'result'` goes on.
 */
export type Result =
  | {
      readonly type: 'done';
      readonly output: unknown;
      readonly goto?: string | undefined;
      /** What it writes in addition, in this order. `undefined` clears a channel. */
      readonly writes?: readonly ChannelWrite[] | undefined;
    }
  | { readonly type: 'failed'; readonly error: ErrorData }
  /** A bound of the run is reached: the run ends, whatever policies and handlers say, and keeps what is written. */
  | { readonly type: 'out_of_budget'; readonly error: ErrorData; readonly writes?: readonly ChannelWrite[] | undefined }
  | { readonly type: 'paused'; readonly question: Question; readonly reason: string }
  | { readonly type: 'skipped'; readonly reason: string };

/** A value for a channel. */
export interface ChannelWrite {
  readonly channel: string;
  readonly value: unknown;
}

/** What an executor sees of the run: the causal state, and the one door to the outside (J1). */
export interface StepContext {
  readonly runId: string;
  /** Address of this step, `review/loop#3/critic`. */
  readonly path: string;
  readonly node: PlanNode;
  /** Of its plan, for messages. */
  readonly notation?: string | undefined;
  /** 1 for the first try. */
  readonly attempt: number;
  /** What a supervisor, or a person, said of the attempt before, of this step or of one around it: it belongs into every prompt. */
  readonly correction?: string | undefined;
  /** The functions of the agent that are tools, by the names of the tools. */
  readonly tools: Bindings;
  /** The functions of the agent that check its texts, by their names. */
  readonly checks?: Bindings | undefined;
  /** Makes what guides the agent, where its choice is code. */
  readonly guide?: GuideOf | undefined;
  /** What has a say in what this step does. */
  readonly influence: Influence;
  /** Reads the state that this step sees (S2); undefined when nobody upstream wrote it. */
  read(ref: ValueRef): unknown;
  /** Reads a channel; of a list at least so many of its last entries, and fewer are all of them. */
  readEnd(channel: string, count: number): unknown;
  /**
   * A read-only view of the state that this step sees, for code of the program. What was read of it goes into the identity of the effect that
   * used it.
   */
  watch(): StateWatch;
  /** Renders a template in one pass. */
  render(template: Template): string;
  /** The value of a JSON template; undefined: it is a reference that leads to nothing. */
  renderJson(source: JsonTemplate): unknown;
  /**
   * Runs a side effect and records it under `PATH@name`; names are unique within an attempt. Rejects with a SkeinError.
   * What it gives is JSON. A result that is recorded under this name is used when its `identity` is the same, and nothing runs. With `timeoutMs` it is aborted, and
   * rejects with `SKEIN_TIMEOUT`, when it takes longer.
   */
  effect<T>(name: string, effect: (io: StepIo) => T | Promise<T>, options?: EffectOptions): Promise<T>;
  /** Says that the attempt called something that has `effect: once`, where that is no effect of its own. */
  callsOnce(): void;
  /** A call of a model goes out. If the attempt ends before it is told how the call ended, the call failed, and spent what this gives. */
  underWay(call: CallUnderWay): void;
  /** Waits, by the run's clock. */
  sleep(name: string, ms: number): Promise<void>;
  /**
   * What `retry` of this step, or of the nearest one around it that has one, says of a call inside that failed. The call takes one of its attempts when it is made
   * again, after {@link backoff}. Undefined: there is no such policy.
   */
  again(failed: FailedCall): Again | undefined;
  /** Waits between two tries of a call, by the run's clock. Does not count toward the timeout of the step. */
  backoff(name: string, ms: number): Promise<void>;
  /**
   * Asks a person. Rejects with `SKEIN_QUESTION` when nobody can answer for now; an executor turns that into a pause. The answer is
   * text, or what the question's schema asks for.
   */
  ask(name: string, question: Question, how?: AskOptions): Promise<unknown>;
  /** Whether the outcome of an effect is taken from the run that this one was forked from: it is not performed here. */
  isTaken(name: string, identity: Identity): boolean;
  /** Tells observers something; never needed for correctness. `again`: it comes from the record, whatever the run does otherwise. */
  note(note: StepNote, again?: boolean): void;
  /** Milliseconds since 1970 by the run's clock. */
  now(): number;
  /** Milliseconds in which the run worked so far: see `Durable`. */
  worked(): number;
  /** Digest of the node's definition (J2): for the identities of its effects. */
  definition(): string;
  /** A number in [0, 1), the same on every replay and in every fork. */
  random(): number;
}

/** A call of a model that was made, and has not ended. */
export interface CallUnderWay {
  readonly asking: Asking;
  /** The most that it is expected to spend; it may be worked out when it is read. */
  readonly reserved: Spent;
}

/** How an effect of an executor is recorded, and how long it may take, in milliseconds of the run's clock. */
export interface EffectOptions extends StepOptions {
  readonly timeoutMs?: number;
}

/** How a question of an executor is put. */
export interface AskOptions {
  /** Told first where the answer came from. */
  readonly answered?: (by: string | undefined) => void;
  /** Milliseconds after which an answer is too late: it rejects with `SKEIN_TIMEOUT`. */
  readonly expiresMs?: number;
}

/** A call inside of a step that failed, and may work the next time. */
export interface FailedCall {
  readonly error: ErrorData;
  /** How often calls of this attempt were made again so far. */
  readonly repeats: number;
  /** Name of the {@link StepContext.backoff} before the next try. */
  readonly pause: string;
  /** It belongs to the supervision of the step, which has the attempts of the step for each of its calls. */
  readonly judging: boolean;
}

/** A call inside of a step that failed; its key is that of the wait before the next try. */
export interface FailedInside extends Omit<FailedCall, 'pause'> {
  readonly key: string;
}

/** Whether a call that failed is made again, and after how many milliseconds. */
export type Again = { readonly delayMs: number } | 'never';

/** A view of a state, and what was read of it. */
export interface StateWatch extends Required<Pick<Identity, 'reads' | 'current'>> {
  readonly state: Readonly<Record<string, unknown>>;
}

/** Executors by node kind. `runtime.ts` registers those of agents. */
export type Executors = Readonly<Partial<Record<PlanNode['kind'], Executor<never>>>>;

/** What a guard gets of the step whose function makes a call. */
export interface GuardedStep {
  readonly context: StepContext;
  /** Of the effect that the function is. */
  readonly io: StepIo;
  /** Asks a person, under the address that questions of the guard have. */
  readonly ask: (question: Question) => Promise<unknown>;
}

/** Decides about calls of tools that functions of steps make by themselves. */
export interface NodeGuard {
  /**
   * Decides by who had a say in the step. Undefined: the call may be made as it is; else what decides, with whoever has to be asked.
   *
   * @throws SkeinError `SKEIN_TOOL_REFUSED`
   */
  clear(
    call: NodeCall,
    label: Label,
    by: { readonly id: string; readonly path: string },
  ): ((step: GuardedStep) => Promise<ClearedCall>) | undefined;
  /** A step whose record is used had arguments of its calls left free. */
  free(id: string, freed: readonly FreedArguments[]): void;
}

/** An answer that comes later than this, in milliseconds, is too late: what the call is about has changed since. */
export const GUARD_EXPIRES_MS = 7 * 24 * 60 * 60 * 1_000;
