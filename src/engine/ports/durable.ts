import type { InnerCall } from '../../events/event.js';
import type { ErrorData } from '../../base/errors.js';
import type { Limit } from '../../base/duration.js';
import type { Amount } from '../../budget/amount.js';
import type { Label } from '../../guard/label.js';
import type { FreedArguments } from '../../plan/tool-use.js';
import type { Lack } from '../../budget/ledger.js';
import type { OpenQuestion } from '../../events/question.js';

/** Sessions of a run before this one, and of the runs that it was forked from. */
export interface Closings {
  /** That ended as failed, degraded or cancelled. */
  readonly ended: number;
  /** All of them. */
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
 * Keys are stable addresses: the path of the step, `~n` from the second attempt on, and `@name` for what a step does in addition to its body.
 */
export interface Durable {
  readonly runId: string;
  /** Outcomes are recorded: identities are asked for, and values must be JSON. */
  readonly recorded: boolean;
  /** The outcome that was delivered last came from the record. */
  readonly replaying: boolean;
  /** What is known of sessions before this one. Absent: there were none. */
  readonly closings?: Closings | undefined;
  /**
   * Starts a side effect once and records its outcome. When the effect returns a plain value, not a promise, the back end
   * may hand the ticket back already settled (`ticket.outcome`): a synchronous node then costs no promise.
   */
  step(key: string, effect: Effect, options?: StepOptions): Ticket;
  /**
   * Settles after `ms` milliseconds of the run's clock. When it is due is recorded, so that it goes on over a restart; not for a
   * `fleeting` one, which then begins again. `identity`: what it is a limit for. That it rang counts as long as that is the same.
   */
  timer(key: string, ms: number, fleeting?: boolean, identity?: Identity): Ticket;
  /** A timer with this key was set in an earlier session. Absent: there are none. */
  timed?(key: string): boolean;
  /** An effect with this key would have its outcome from the run that this one was forked from. Absent: there is none. */
  isTaken?(key: string, identity: Identity): boolean;
  /** Settles when somebody answers, or when the answer is overdue (`SKEIN_TIMEOUT`). `SKEIN_QUESTION`: nobody can, for now. */
  signal(key: string, wait: Wait): Ticket;
  /**
   * Called once, before anything is started. Settled tickets are handed to the taker one at a time, in an order that is part of the
   * record; when it gives a promise, the next one waits for it. Never done from inside `step`, `timer`, `signal` or `drop`.
   */
  deliverTo(taker: Taker): void;
  /** The interpreter is no longer interested: abort the effect if it runs here, and never deliver the ticket. */
  drop(ticket: Ticket): void;
  /** Milliseconds since 1970 at the last delivered outcome: the same on every replay. */
  now(): number;
  /**
   * Milliseconds since 1970 when the effect ended whose outcome the interpreter has had last; before the first one, when the run began.
   * The same on every replay, whatever came in meanwhile. What a fork takes over took no time.
   */
  settledAt(): number;
  /**
   * Milliseconds in which effects ran, up to the outcome that was delivered last: not those in which nothing but people were waited for, nor those in which
   * no process had the run. The same on every replay.
   */
  worked(): number;
  /** A number in [0, 1), derived from the run and the key: the same on every replay, and in every fork. */
  random(key: string): number;
}

/** The interpreter, as a back end sees it. */
export interface Taker {
  /** Settles when code that was started or woken has come to rest; undefined when it has. A back end that replays waits for it. */
  readonly resting: Promise<void> | undefined;
  /** Steps that ran or were reused, without those that only contain others. */
  readonly stepsEnded: number;
  /** Takes a settled ticket; the promise resolves when everything that it woke has come to rest. */
  take(ticket: Ticket): Promise<void> | undefined;
  /** A question or an event is waited for. `again`: that is recorded, maybe with its answer. */
  waitsFor(question: OpenQuestion, again: boolean): void;
  /** Nobody can answer it for now; whoever asked is told so by its outcome, `SKEIN_QUESTION`. */
  unanswered(question: OpenQuestion): void;
  /** What is recorded of a step does not hold any more: it is about to run again; `isJudged`: it is only judged again. */
  outdated(step: string, isJudged: boolean): void;
  /** Everything that is recorded has been delivered: what goes on from here is new. Never for a run that begins. */
  caughtUp(): void;
  /** The back end can't go on: the run fails, nothing more is asked of it. */
  broken(error: ErrorData): void;
}

/** What a side effect returned, or why it did not. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  /** `short`: a budget does not allow it for now, and nothing is recorded. */
  | { readonly ok: false; readonly error: ErrorData; readonly short?: Short };

/** When something ends for which a budget has not enough: when it has `waited` until nothing else of the run went on, or whatever else goes on. */
export type Short = 'waited' | 'at once';

/** Something that was started. Made by a back end; `settle` belongs to the interpreter. */
export interface Ticket {
  readonly key: string;
  /** Set by the back end, before it hands the ticket back or delivers it. */
  outcome: Outcome | undefined;
  /** Set by the back end, where the outcome is an answer and it is known: where that came from. */
  readonly answeredBy?: string | undefined;
  /** Set by the interpreter: who waits for the outcome. */
  waiter: Waiter | undefined;
}

/** What waits for a ticket. */
export interface Waiter {
  settled(ticket: Ticket, outcome: Outcome): void;
}

/** A side effect. */
export interface Effect {
  /** May use the clock, the network and files; nothing here is replayed. Gives a value or a promise of one. */
  perform(io: StepIo): unknown;
}

/** What a side effect gets from the back end. */
export interface StepIo {
  /** The same for every execution of this step, also after a crash: run id and key. */
  readonly idempotencyKey: string;
  /** Aborted when the run is cancelled, the attempt timed out, or the ticket was dropped. Made when first read. */
  readonly signal: AbortSignal;
  /**
   * Asks a person from inside the effect; `name` is unique in it. Rejects with `SKEIN_QUESTION` when nobody can answer for now: the
   * effect then ends, and is performed from its beginning when there is an answer. `SKEIN_TIMEOUT`: nobody did within the limit, which counts from
   * when it was asked first.
   */
  ask(name: string, question: Question, limit?: Limit): Promise<unknown>;
  /**
   * Holds what is about to be spent. Absent: no budget holds here. With a store it resolves when that is committed. What is held counts as spent
   * unless it is settled.
   *
   * @throws SkeinError `SKEIN_BUDGET` when there is not enough; whatever the effect makes of that, it counts as not done. `SKEIN_BUDGET_MODEL` when
   *   another model is to be asked: an outcome like others.
   */
  readonly reserve?: Reserve | undefined;
  /** The effect waits for something that is not its work: the clocks of its step stand still until the function that this gives is called. */
  standStill?(): () => void;
  /** Runs an effect inside of this one, and records its success under a key of its own. Absent: nothing is recorded. */
  run?(key: string, effect: Effect, options: StepOptions): Promise<unknown>;
}

/** What an effect is about to spend. */
export interface Reserving {
  readonly amount: Amount;
  /** `provider/model` that is asked, where it is one: a limit may name a cheaper one. */
  readonly model?: string;
  /** Nobody knows what it costs. */
  readonly unpriced?: true;
  /** Nobody bills it: it is asked in place of a model that costs. */
  readonly pretended?: true;
  /** What the effect gives says what it spent. */
  readonly told?: true;
  /** It counts as spent as soon as it is held, whatever comes of it: what it starts may reserve for itself. */
  readonly atOnce?: true;
  /** Called when it has to wait, with the limit that has not enough. Gives what is called when it waits no more. */
  readonly waits?: (lack: Lack | undefined) => () => void;
}

/** What is held for an effect. */
export interface Held {
  /** What was spent in truth. Once; later calls do nothing. */
  settle(spent: Amount): void;
  /** Does something of which it waits for the end, and which may reserve, too. */
  during<T>(inside: () => Promise<T>): Promise<T>;
}

/** Holds what is about to be spent. */
export interface Reserve {
  (wanted: Reserving): Promise<Held>;
  /** Every byte that goes in may be a token. */
  readonly strict?: boolean | undefined;
}

/**
 * Gives the options for runs that a function starts; `reserve`: that of the effect inside of which they run, `tell`: told of the calls that they make,
 * `influence`: what has a say in that they are started, and is told what had a say in their results, `path`: the step that starts them.
 */
export type RunOptionsOf = (
  reserve: Reserve | undefined,
  tell: (note: InnerCall) => void,
  influence?: Influence,
  path?: string,
) => object;

/** The trust label of what a step does: of what led to it, of all that it read, and of what it added. What it writes, and its failures, carry it. */
export interface Influence {
  label(): Label;
  /** Something from outside has a say from here on, also when the attempt fails. */
  add(label: Label): void;
}

/** How an effect is recorded, and treated after a crash (J6). */
export interface StepOptions {
  /** `once` and `idempotent` are journaled before they start; a `once` effect that was started and not recorded is never run again unasked. */
  readonly effect?: 'read' | 'idempotent' | 'once' | undefined;
  /** What the outcome depends on in addition to the key (J2). Absent: nothing. */
  readonly identity?: Identity;
  /**
   * A function of what it reads, without effects: an answer that it gives at once is used at once, before it is committed. It is recorded
   * all the same, and used again.
   */
  readonly pure?: boolean;
  /** An answer that it gives at once may be lost in a crash, as another one serves as well. It is used at once, and recorded, as that of a pure one. */
  readonly losable?: boolean;
  /** Frees what the step holds: performed on a replay too, and no reason to take a failed step for a finished one. */
  readonly cleanup?: boolean;
  /** The value of a `once` effect of which a person says that it was done. */
  readonly lostValue?: unknown;
  /** What a person should see who is asked whether a `once` effect was done: JSON. */
  readonly evidence?: unknown;
}

/** What an outcome depends on (J2). Asked only by back ends that record. */
export interface Identity {
  /** Digest of the definition, and of what goes in. */
  digest(): string;
  /** Further digests that count as the same: what is recorded under one of them holds. */
  also?(): readonly string[];
  /** What the effect read while it ran: digests by name. Asked when it has ended. */
  reads?(): Readonly<Record<string, string>> | undefined;
  /** The digest, now, of something that was read then. A record counts only when all are the same. */
  current?(name: string): string;
  /** What runs that the effect started had heard. Asked when it has ended. */
  heard?(): Label | undefined;
  /** Arguments of calls inside of the effect that a person left free, for the rest of the run. Asked when it has ended. */
  freed?(): readonly FreedArguments[] | undefined;
  /** A record is used in its place, with what was read and heard then. */
  reused?(then: Past): void;
}

/** What is recorded of the past of an effect. */
export interface Past {
  readonly reads?: Readonly<Record<string, string>>;
  readonly heard?: Label;
  readonly freed?: readonly FreedArguments[];
}

/** What a step waits for from outside. */
export interface Wait {
  /** Who can be told: the id of an `ask` node, the name of an event. */
  readonly name: string;
  /** Absent: an event. */
  readonly question?: Question;
  /** Of an event: JSON Schema of what comes with it. */
  readonly schema?: unknown;
  /** Milliseconds after which it is too late. */
  readonly expiresMs?: number;
  /** When it is too late, in milliseconds since 1970. */
  readonly dueAt?: number;
}

/** What a person is asked. */
export interface Question {
  readonly text: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema?: unknown;
  /** What the person should see to decide, such as a tool call: JSON. */
  readonly evidence?: unknown;
}
