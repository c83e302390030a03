import { toErrorData } from '../base/errors.js';
import type { Outcome, Ticket } from '../engine/ports/durable.js';

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
