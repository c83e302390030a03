import type { ErrorData } from '../../base/errors.js';

/**
 * The durability port (DESIGN.md section 5). The interpreter is deterministic; everything else goes through here (J1).
 *
 * What crosses:
 * - the interpreter calls `step`, `timer`, `signal`, each of which *starts* something and returns a {@link Ticket} at once;
 * - the back end hands outcomes over one at a time; nothing else wakes the interpreter;
 * - errors cross as values ({@link ErrorData}), never as thrown objects.
 */
export interface Durable {
  readonly runId: string;
  /**
   * Starts a side effect once and records its outcome. When the effect returns a plain value, not a promise, the back end
   * may hand the ticket back already settled (`ticket.outcome`): a synchronous node then costs no promise.
   */
  step(key: string, effect: Effect, options?: StepOptions): Ticket;
  /** Settles after `ms` milliseconds of the run's clock. */
  timer(key: string, ms: number): Ticket;
  /** Settles when somebody answers `name`. */
  signal(key: string, name: string, question?: Question): Ticket;
  /**
   * Called once, before anything is started. Settled tickets are handed to the taker one at a time, in an order that is part of the
   * record; when it gives a promise, the next one waits for it. Never done from inside `step`, `timer`, `signal` or `drop`.
   */
  deliverTo(taker: Taker): void;
  /** The interpreter is no longer interested: abort the effect if it runs here, and never deliver the ticket. */
  drop(ticket: Ticket): void;
  /** Milliseconds since 1970 at the last delivered outcome: the same on every replay. */
  now(): number;
  /** A number in [0, 1), derived from the run id: the same on every replay. */
  random(): number;
}

/** The interpreter, as a back end sees it. */
export interface Taker {
  /** Takes a settled ticket; the promise resolves when everything that it woke has come to rest. */
  take(ticket: Ticket): Promise<void> | undefined;
}

/** What a side effect returned, or why it did not. */
export type Outcome =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ErrorData };

/** Something that was started. Made by a back end; `settle` belongs to the interpreter. */
export interface Ticket {
  readonly key: string;
  /** Set by the back end, before it hands the ticket back or delivers it. */
  outcome: Outcome | undefined;
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
}

/** How an effect is treated after a crash (J6). */
export interface StepOptions {
  readonly effect?: 'read' | 'idempotent' | 'once';
}

/** What a person is asked. */
export interface Question {
  readonly text: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema?: unknown;
}
