import { toErrorData } from '../base/errors.js';
import type { Outcome, Question, Ticket } from '../engine/ports/durable.js';

/** Something that the interpreter started and that has not been delivered. */
export interface PendingTicket {
  readonly key: string;
  readonly kind: 'step' | 'timer' | 'signal';
  /** Whatever `label` of the options made of it when it was started. */
  readonly label: string;
  /** When a timer is due, or an answer overdue, milliseconds since 1970. */
  readonly dueAt?: number;
  /** What a signal waits for. */
  readonly name?: string;
  readonly question?: Question;
}

/** A pending ticket with what is needed to deliver it. */
export interface Entry extends PendingTicket {
  readonly ticket: Ticket;
  /** Of a step: settles with its outcome, never rejects. */
  readonly running?: Promise<Outcome>;
  readonly abort: () => void;
  /** Of a question that an effect asks: the step, and who gets the answer. */
  readonly asked?: { readonly by: string; readonly settle: (outcome: Outcome) => void };
  ready: Outcome | undefined;
  /** Set while its promise is awaited: stops the waiting when the ticket is dropped meanwhile. */
  giveUp: (() => void) | undefined;
}

/** A ticket without an outcome. */
export function newTicket(key: string): Ticket {
  return { key, outcome: undefined, waiter: undefined };
}

export function noop(): void {
  // Nothing runs that could be stopped.
}

/** What a promise gives, or why not. */
export async function settled(promise: PromiseLike<unknown>): Promise<Outcome> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    return { ok: false, error: toErrorData(error) };
  }
}

/** It ends when its time has come: a timer, or a signal without an answer. */
export function isTicking(entry: Entry): boolean {
  return entry.kind === 'timer' || entry.ready === undefined;
}

export function overdue(entry: Entry): Outcome {
  const message = `no one answered '${entry.name ?? ''}' in time`;
  return { ok: false, error: { code: 'SKEIN_TIMEOUT', message, retryable: true } };
}

/** The outcome of the promise; undefined when the ticket is dropped first, also if the promise never settles. */
export function awaited(entry: Entry): Promise<Outcome | undefined> {
  const dropped = new Promise<undefined>((resolve) => {
    entry.giveUp = () => resolve(undefined);
  });
  return Promise.race([entry.running, dropped]);
}
