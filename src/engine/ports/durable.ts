import type { InnerCall } from '../../events/event.js';
import type { ErrorData } from '../../base/errors.js';
import type { Limit } from '../../base/duration.js';
import type { Label } from '../../guard/label.js';
import type { Amount } from '../../budget/amount.js';
import type { Lack } from '../../budget/ledger.js';
import type { OpenQuestion } from '../../events/question.js';
import type { Identity, StepOptions } from './recording.js';

/** Earlier sessions of a run, and sessions of the runs it was forked from. */
export interface Closings {
  /** Number of sessions that ended as failed, degraded or cancelled. */
  readonly ended: number;
  /** Number of sessions after which a cut-off step may continue: those, out of budget, and a fork of a run that was not over. */
  readonly continued: number;
  readonly sessions: number;
}

/**
 * The durability port (DESIGN.md section 5). The interpreter is deterministic; everything else goes through here (J1).
 *
 * What crosses:
 * - the interpreter calls `step`, `timer`, `signal`, each of which *starts* something and returns a {@link Ticket} at once;
 * - the back end hands outcomes over one at a time; nothing else wakes the interpreter;
 * - errors cross as values ({@link ErrorData}), never as thrown objects.
 *
 * Keys are stable addresses: the path of the step, `~n` from the second attempt on, and `@name` for effects in addition to the body.
 */
export interface Durable {
  readonly runId: string;
  /** True if outcomes are recorded: the back end then reads identities, and values must be JSON. */
  readonly recorded: boolean;
  /** True if the last delivered outcome came from the record. */
  readonly replaying: boolean;
  /** Earlier sessions. Absent if there were none. */
  readonly closings?: Closings | undefined;
  /**
   * Starts a side effect once and records its outcome. If the effect returns a plain value instead of a promise, the back end may return a
   * ticket that is already settled (`ticket.outcome`): a synchronous node then costs no promise.
   */
  step(key: string, effect: Effect, options?: StepOptions): Ticket;
  /**
   * Settles after `ms` milliseconds of the run's clock. The due time is recorded, so the timer continues across a restart; a `fleeting`
   * timer begins again instead. `identity` identifies a time limit and what it limits, see `timeLimit` of `policies/timeout.ts`: a recorded
   * expiry counts only while the identity is the same. By default it is `ms`.
   */
  timer(key: string, ms: number, fleeting?: boolean, identity?: Identity): Ticket;
  /** Whether an earlier session set a timer with this key. Absent in back ends without earlier sessions. */
  timed?(key: string): boolean;
  /** Whether an effect with this key would take its outcome from the parent of this fork. Absent in back ends without forks. */
  isTaken?(key: string, identity: Identity): boolean;
  /** True if the run is part of an effect of a recorded run: calls, parts and `once` effects are then recorded as parts of that effect. */
  readonly isInside?: boolean;
  /** Whether the record has an outcome with this key, and, if one is given, with this identity. Absent in back ends without records. */
  isRecorded?(key: string, identity?: Identity): boolean;
  /** The calls of runs that the recorded attempt of a step had started. Absent in back ends without records. */
  innerCalls?(path: string): readonly InnerCall[];
  /** Settles when an answer arrives, or expires (`SKEIN_TIMEOUT`). `SKEIN_QUESTION`: nobody can answer in this session. */
  signal(key: string, wait: Wait): Ticket;
  /**
   * Called once, before anything starts. Passes settled tickets to the taker one at a time, in an order that is part of the record; if the
   * taker returns a promise, the next ticket waits for it. Never happens during a call of `step`, `timer`, `signal` or `drop`.
   */
  deliverTo(taker: Taker): void;
  /** The interpreter discards the ticket: the effect is aborted if it runs here, and the ticket is never delivered. */
  drop(ticket: Ticket): void;
  /** Milliseconds since 1970 at the last delivered outcome. The same on every replay. */
  now(): number;
  /**
   * Milliseconds since 1970 at which the effect of the last delivered outcome ended; before the first outcome, the start of the run. The
   * same on every replay, whatever arrived in between. Outcomes that a fork takes over took no time.
   */
  settledAt(): number;
  /**
   * Milliseconds of work up to the last delivered outcome. Excludes time in which the run waited only for people, and time in which no
   * process ran it. The same on every replay.
   */
  worked(): number;
  /** A number in [0, 1), derived from the run and the key. The same on every replay and in every fork. */
  random(key: string): number;
}

/** The interpreter, as seen by a back end. */
export interface Taker {
  /** Resolves when started or woken code has come to rest; undefined if it already has. A replaying back end waits for it. */
  readonly resting: Promise<void> | undefined;
  /** Number of steps that ran or were reused, without steps that only contain others. */
  readonly stepsEnded: number;
  /** Takes a settled ticket. The promise resolves when all code that the ticket woke has come to rest. */
  take(ticket: Ticket): Promise<void> | undefined;
  /** The run waits for a question or an event. `again`: the wait is already recorded, maybe with its answer. */
  waitsFor(question: OpenQuestion, again: boolean): void;
  /** Nobody can answer the question in this session. The outcome `SKEIN_QUESTION` tells this to the asker. */
  unanswered(question: OpenQuestion): void;
  /** The record of a step is no longer valid: the step is about to run again, or only to be judged again (`isJudged`). */
  outdated(step: string, isJudged: boolean): void;
  /** All recorded outcomes have been delivered: everything from here on is new. Never called for a run that begins. */
  caughtUp(): void;
  /** The back end can't continue: the run fails and makes no further calls. */
  broken(error: ErrorData): void;
}

/** The return value of a side effect, or its error. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  /** `short`: a budget does not allow the effect at present. Nothing is recorded. */
  | { readonly ok: false; readonly error: ErrorData; readonly short?: Short };

/** When work ends that a budget does not cover: after it has `waited` for the rest of the run to stop, or at once. */
export type Short = 'waited' | 'at once';

/** Something that was started. The back end creates it; `settle` belongs to the interpreter. */
export interface Ticket {
  readonly key: string;
  /** Set by the back end, before it returns or delivers the ticket. */
  outcome: Outcome | undefined;
  /**
   * When the timer was set, by the clock of `now()`. Set by the back end. Absent until then: a run sets its timers once it has caught up with
   * its record.
   */
  readonly setAt?: number | undefined;
  /** Source of the answer. Set by the back end if the outcome is an answer and its source is known. */
  readonly answeredBy?: string | undefined;
  /** Receives the outcome. Set by the interpreter. */
  waiter: Waiter | undefined;
}

/** Receives the outcome of a ticket. */
export interface Waiter {
  settled(ticket: Ticket, outcome: Outcome): void;
}

export interface Effect {
  /** May use the clock, the network and files; nothing in it is replayed. Returns a value or a promise of one. */
  perform(io: StepIo): unknown;
}

/** When a question expires, and whether that is an answer. */
export type AskLimit = Limit & Pick<Wait, 'hasDefault'>;

/** Receives the source of an answer; undefined if it is unknown. */
export type AnswerSource = (by: string | undefined) => void;

/** The back end's services for a side effect. */
export interface StepIo {
  /** The same for every execution of the effect, also after a crash. From the back end: run id and key. For an executor: also for the attempts that repeat it. */
  readonly idempotencyKey: string;
  /** Run id and key, where the idempotency key is another. */
  readonly place?: string;
  /** Aborted when the run is cancelled, the attempt times out, or the ticket is dropped. Created when first read. */
  readonly signal: AbortSignal;
  /**
   * Asks a person from inside the effect; `name` is unique in the effect. Rejects with `SKEIN_QUESTION` if nobody can answer in this
   * session: the effect then ends, and is performed from its beginning once there is an answer. Rejects with `SKEIN_TIMEOUT` if nobody
   * answers within the limit, which counts from the first time the question was asked. `from` receives the source of the answer first.
   */
  ask(name: string, question: Question, limit?: AskLimit, from?: AnswerSource): Promise<unknown>;
  /**
   * Reserves what is about to be spent. Absent if no budget applies. With a store, resolves when the reservation is committed. A
   * reservation counts as spent unless it is settled.
   *
   * @throws SkeinError `SKEIN_BUDGET` if not enough is left: the effect counts as not done, even if it handles the error.
   * `SKEIN_BUDGET_MODEL` if another model must be called: an outcome like any other.
   */
  readonly reserve?: Reserve | undefined;
  /** The effect waits for something that is not its own work: the clocks of its step stop until the returned function is called. */
  standStill?(): () => void;
  /** Runs an effect inside this one, and records its success under a key of its own. Absent if nothing is recorded. */
  readonly run?: ((key: string, effect: Effect, options: StepOptions) => Promise<unknown>) | undefined;
  /** Records what runs inside this effect do. Absent if nothing is recorded. */
  readonly parts?: Parts | undefined;
}

/**
 * Records the effects of runs inside an effect as parts of that one, so that they are not repeated if it is performed again. Names are unique
 * within the effect, and the same whenever it is performed.
 */
export interface Parts {
  /** Returns the name of a run: the given one, with a number if the effect has started such a run before. */
  nameOf(run: string): string;
  /** A run begins. While it is at work, the effect does not only wait, even if it has asked something. */
  begins(isAtWork: () => boolean): RunUnderWay;
  /**
   * Performs a part, unless its outcome is recorded; its success and its failure are. Settles when that is committed. `waits` is called
   * before somebody finds out whether it was done.
   */
  perform(name: string, effect: PartEffect, options: StepOptions, waits: FindingOut): Promise<Outcome>;
  /** As {@link StepIo.run}, but the name is that of a part. */
  run(name: string, effect: Effect, options: StepOptions): Promise<unknown>;
  isRecorded(name: string, identity?: Identity): boolean;
  isTaken(name: string, identity: Identity): boolean;
  /** The part that the calling code belongs to only waits for the rest of its run, until the returned function is called. */
  waits(): () => void;
  /** Name of the run whose effect the calling code belongs to. */
  underWay(): string | undefined;
  idempotencyKey(name: string): string;
  random(name: string): number;
}

/**
 * Somebody finds out what became of a part: meanwhile the clocks of all steps around it stand still. While a person is asked, nothing is at
 * work in it, unlike while its probe is. Returns a function to call once that is over.
 */
export type FindingOut = (by: 'person' | 'probe') => () => void;

/** A run inside an effect, as seen by what records the effect. */
export interface RunUnderWay {
  /** The run may have come to rest. */
  rests(): void;
  over(): void;
}

/** Performs a part. Undefined: it was cut off, and nothing is recorded. */
export type PartEffect = () => Promise<PartOutcome | undefined>;

/** The outcome of a part. `unmade`: it failed before the call that it was to make, or stands at a question. */
export type PartOutcome = Outcome & { readonly unmade?: boolean };

/** What an effect is about to spend. */
export interface Reserving {
  readonly amount: Amount;
  /** `provider/model` of the called model, for a model call: a limit may name a cheaper one. */
  readonly model?: string;
  /** The price is unknown. */
  readonly unpriced?: true;
  /** Nobody bills the call: it replaces a call of a model that costs money. */
  readonly pretended?: true;
  /** The effect's result contains what the effect spent. */
  readonly told?: true;
  /** The amount counts as spent as soon as it is reserved, whatever the outcome: work started by the effect may reserve for itself. */
  readonly atOnce?: true;
  /** Called if the reservation has to wait, with the limit that is short. Returns a function to call when the wait ends. */
  readonly waits?: (lack: Lack | undefined) => () => void;
}

/** A reservation for an effect. */
export interface Held {
  /** Replaces the reservation by the amount really spent. Counts once; later calls do nothing. */
  settle(spent: Amount): void;
  /** Runs something that may reserve as well, and waits for it. */
  during<T>(inside: () => Promise<T>): Promise<T>;
}

/** Reserves what is about to be spent. */
export interface Reserve {
  (wanted: Reserving): Promise<Held>;
  /** True if every input byte is counted as a possible token. */
  readonly strict?: boolean | undefined;
}

/** The effect that starts a run, as seen by that run. */
export interface Around {
  /** Reserves what the run spends. Absent if no budget applies. */
  readonly reserve: Reserve | undefined;
  /** Records what the run does. Absent if nothing is recorded. */
  readonly parts: Parts | undefined;
  /** Receives the calls that the run makes; `again`: from the record, paid before. */
  readonly tell: (note: InnerCall, again: boolean) => void;
  /** What influences the start of the run; receives what influenced its result. */
  readonly influence?: Influence;
  /** Path of the step. */
  readonly path: string;
  /** Asks what the run asks. */
  readonly ask: AskAround;
}

/** Returns the options for runs that a function starts. */
export type RunOptionsOf = (around: Around) => object;

/** Asks a question of a run inside a step as one of that step, under a name of its own. */
export type AskAround = (name: string, question: Question, from?: AnswerSource) => Promise<unknown>;

/** The trust label of a step: of what led to it, of all that it read, and of what it added. Its writes and its failures carry the label. */
export interface Influence {
  label(): Label;
  /** Adds something from outside that influences the step from here on, also if the attempt fails. */
  add(label: Label): void;
  /** Adds a file that the step, or a run started by it, wrote after something untrusted. Absent if nothing is recorded. */
  wrote?(this: void, path: string): void;
}

/** A step's wait for something from outside. */
export interface Wait {
  /** The id of an `ask` node, or the name of an event. */
  readonly name: string;
  /** Absent for an event. */
  readonly question?: Question;
  /** JSON Schema of the data of an event. */
  readonly schema?: unknown;
  /** Milliseconds until the wait expires. */
  readonly expiresMs?: number;
  /** When the wait expires, in milliseconds since 1970. */
  readonly dueAt?: number;
  /** True if its expiry is an answer, with which the step continues: it is not asked again when something else failed. */
  readonly hasDefault?: true;
}

/** A question for a person. */
export interface Question {
  readonly text: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema?: unknown;
  /** JSON that helps the person decide, such as a tool call. */
  readonly evidence?: unknown;
}
