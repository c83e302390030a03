import { toErrorData } from '../base/errors.js';
import type { Outcome, Question, Ticket } from '../engine/ports/durable.js';

/** A ticket that the interpreter started and that has not been delivered. */
export interface PendingTicket {
  readonly key: string;
  readonly kind: 'step' | 'timer' | 'signal';
  /** The result of the option `label` when the ticket was started. */
  readonly label: string;
  /** Due time of a timer, or deadline of an answer, in milliseconds since 1970. */
  readonly dueAt?: number;
  /** The name that a signal waits for. */
  readonly name?: string;
  readonly question?: Question;
}

/** A pending ticket with what is needed to deliver it. */
export interface Entry extends PendingTicket {
  readonly ticket: Ticket;
  /** The running effect of a step. Settles with its outcome and never rejects. */
  readonly running?: Promise<Outcome>;
  readonly abort: () => void;
  /** For a question that an effect asks: the step, and the callback for the answer. */
  readonly asked?: { readonly by: string; readonly settle: (outcome: Outcome) => void };
  ready: Outcome | undefined;
  /** Set while its promise is awaited: stops the wait if the ticket is dropped meanwhile. */
  giveUp: (() => void) | undefined;
}

export function newTicket(key: string): Ticket {
  return { key, outcome: undefined, waiter: undefined };
}

export function noop(): void {
  // Nothing is in progress that could be stopped.
}

export async function settled(promise: PromiseLike<unknown>): Promise<Outcome> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    return { ok: false, error: toErrorData(error) };
  }
}

/** True if the ticket ends when its time comes: a timer, or a signal without an answer. */
export function isTicking(entry: Entry): boolean {
  return entry.kind === 'timer' || entry.ready === undefined;
}

export function overdue(entry: Entry): Outcome {
  const message = `no one answered '${entry.name ?? ''}' in time`;
  return { ok: false, error: { code: 'SKEIN_TIMEOUT', message, retryable: true } };
}

/** Resolves to the outcome of the promise, or to undefined if the ticket is dropped first, even if the promise never settles. */
export function awaited(entry: Entry): Promise<Outcome | undefined> {
  const dropped = new Promise<undefined>((resolve) => {
    entry.giveUp = () => resolve(undefined);
  });
  return Promise.race([entry.running, dropped]);
}
