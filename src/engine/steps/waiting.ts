import { addCensus, emptyCensus, type Census, type OpenCensus } from '../../events/census.js';
import type { ItemError } from '../../plan/plan.js';
import type { Outcome, Ticket, Waiter } from '../ports/durable.js';
import { joined, type Reports } from '../run-result.js';
import { Attempts } from './attempts.js';

const NO_ERRORS: readonly ItemError[] = [];

/** The waits of a step's attempt, and what is known about steps inside it. An attempt that is given up leaves none of it. */
export abstract class Waiting extends Attempts implements Waiter {
  private ticket: Ticket | undefined = undefined;
  /** The wait before the next attempt. */
  private backoff: Ticket | undefined = undefined;

  /** Failed items of a map in this attempt. */
  itemErrors: readonly ItemError[] = NO_ERRORS;
  protected inner: OpenCensus | undefined = undefined;
  protected reports: Reports = undefined;

  /** Passes an awaited outcome to the body; `by` is the source of an answer. */
  protected abstract take(outcome: Outcome, by?: string): void;

  /** Begins the next attempt. */
  protected abstract goOn(): void;

  /** Waits for a ticket of the body; takes its outcome at once if the back end already has it. */
  follow(ticket: Ticket): void {
    if (ticket.outcome === undefined) this.await(ticket, this);
    else this.take(ticket.outcome, ticket.answeredBy);
  }

  /** Makes `waiter` wait for a ticket, which is dropped with the step. */
  await(ticket: Ticket, waiter: Waiter): void {
    this.ticket = ticket;
    ticket.waiter = waiter;
  }

  /** Begins the next attempt when a ticket is settled. */
  protected awaitNext(ticket: Ticket): void {
    this.backoff = ticket;
    ticket.waiter = this;
  }

  settled(ticket: Ticket, outcome: Outcome): void {
    if (ticket === this.backoff) {
      this.backoff = undefined;
      this.goOn();
    } else if (ticket === this.ticket) {
      this.ticket = undefined;
      this.take(outcome, ticket.answeredBy);
    }
  }

  /** The census of what ran inside this step, in its last attempt. */
  get inside(): Census | undefined {
    return this.inner;
  }

  adopt(census: Census, reports: Reports): void {
    addCensus((this.inner ??= emptyCensus()), census);
    this.reports = joined(this.reports, reports);
  }

  protected forgetInside(): void {
    this.inner = undefined;
    this.reports = undefined;
    this.itemErrors = NO_ERRORS;
  }

  protected dropTickets(): void {
    this.ticket = this.drop(this.ticket);
    this.backoff = this.drop(this.backoff);
  }

  private drop(ticket: Ticket | undefined): undefined {
    if (ticket === undefined || ticket.outcome !== undefined) return;
    ticket.waiter = undefined;
    this.run.durable.drop(ticket);
  }
}
