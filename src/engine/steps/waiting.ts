import { addCensus, emptyCensus, type Census, type OpenCensus } from '../../events/census.js';
import type { ItemError } from '../../plan/plan.js';
import type { Outcome, Ticket, Waiter } from '../ports/durable.js';
import { joined, type Reports } from '../run-result.js';
import { Attempts } from './attempts.js';

const NO_ERRORS: readonly ItemError[] = [];

/**
 * What an attempt of a step waits for, the ticket of its body or the time until the next attempt, and what is known of what runs inside of it. An
 * attempt that is given up leaves none of it.
 */
export abstract class Waiting extends Attempts implements Waiter {
  private ticket: Ticket | undefined = undefined;
  /** The wait before the next attempt. */
  private backoff: Ticket | undefined = undefined;

  /** Of a map: items that failed in this attempt. */
  itemErrors: readonly ItemError[] = NO_ERRORS;
  protected inner: OpenCensus | undefined = undefined;
  protected reports: Reports = undefined;

  /** The body gets an outcome that it waited for. */
  protected abstract take(outcome: Outcome): void;

  /** The next attempt begins. */
  protected abstract goOn(): void;

  /** Waits for a ticket of the body; its outcome is taken at once when the back end has it. */
  follow(ticket: Ticket): void {
    if (ticket.outcome === undefined) this.await(ticket, this);
    else this.take(ticket.outcome);
  }

  /** Has `waiter` wait for a ticket, which is dropped with the step. */
  await(ticket: Ticket, waiter: Waiter): void {
    this.ticket = ticket;
    ticket.waiter = waiter;
  }

  /** The next attempt begins when a ticket has its outcome. */
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
      this.take(outcome);
    }
  }

  /** Takes over what is counted and told of a scope inside of this step. */
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
