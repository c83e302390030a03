import type { Clock } from '../base/clock.js';
import { systemClock } from '../base/clock.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { seededRandom } from '../base/ids.js';
import type { Durable, Effect, Outcome, Question, StepIo, StepOptions, Ticket } from './ports/durable.js';

/** Answers a question of a run, from a terminal or from code. */
export type AnswerQuestion = (question: Question, address: string, signal: AbortSignal) => Promise<string>;

/** What a back end in memory can be told. */
export interface MemoryDurableOptions {
  readonly clock?: Clock;
  /** Absent: a question fails with `SKEIN_QUESTION`. Questions are put one at a time. */
  readonly answer?: AnswerQuestion | undefined;
}

/**
 * The back end without a store: a queue. No journal, no hashing; the same interpreter, only faster.
 * Outcomes are delivered in the order in which they happen.
 *
 * @example
 * const durable = new MemoryDurable('run-1');
 */
export class MemoryDurable implements Durable {
  private queue: MemoryTicket[] = [];
  private head = 0;
  private waiter: ((ticket: Ticket) => void) | undefined;
  private time: number;
  private readonly clock: Clock;
  private readonly answer: AnswerQuestion | undefined;
  private draw: (() => number) | undefined;
  private asking: Promise<unknown> | undefined;

  constructor(
    readonly runId: string,
    options: MemoryDurableOptions = {},
  ) {
    this.clock = options.clock ?? systemClock;
    this.answer = options.answer;
    this.time = this.clock.now();
  }

  step(key: string, effect: Effect, _options?: StepOptions): Ticket {
    const ticket = new MemoryTicket(key, this.runId);
    try {
      const value: unknown = effect(ticket);
      if (!isThenable(value)) ticket.outcome = { ok: true, value };
      else this.follow(ticket, value);
    } catch (error) {
      ticket.outcome = { ok: false, error: toErrorData(error) };
    }
    return ticket;
  }

  timer(key: string, ms: number): Ticket {
    const ticket = new MemoryTicket(key, this.runId);
    ticket.undo = this.clock.setTimer(ms, () => this.deliver(ticket, { ok: true, value: undefined }));
    return ticket;
  }

  signal(key: string, name: string, question?: Question): Ticket {
    const ticket = new MemoryTicket(key, this.runId);
    if (this.answer === undefined || question === undefined) {
      const what = question === undefined ? `the event '${name}'` : `an answer to: ${question.text}`;
      const hint = 'run it on a terminal, or give the answer from code';
      ticket.outcome = {
        ok: false,
        error: toErrorData(new SkeinError('SKEIN_QUESTION', `waits for ${what}`, { hint })),
      };
      return ticket;
    }
    const { answer } = this;
    const turn = (this.asking ?? Promise.resolve()).then(() =>
      ticket.dropped ? '' : answer(question, key, ticket.signal),
    );
    this.asking = turn.catch(() => undefined);
    this.follow(ticket, turn);
    return ticket;
  }

  next(): Promise<Ticket> {
    while (this.head < this.queue.length) {
      const ticket = this.queue[this.head++];
      if (this.head === this.queue.length) {
        this.queue = [];
        this.head = 0;
      }
      if (ticket !== undefined && !ticket.dropped) {
        this.time = this.clock.now();
        return Promise.resolve(ticket);
      }
    }
    return new Promise((resolve) => {
      this.waiter = resolve;
    });
  }

  drop(ticket: Ticket): void {
    if (ticket instanceof MemoryTicket) ticket.drop();
  }

  now(): number {
    return this.time;
  }

  random(): number {
    this.draw ??= seededRandom(this.runId);
    return this.draw();
  }

  private follow(ticket: MemoryTicket, promise: PromiseLike<unknown>): void {
    promise.then(
      (value) => this.deliver(ticket, { ok: true, value }),
      (error: unknown) => this.deliver(ticket, { ok: false, error: toErrorData(error) }),
    );
  }

  private deliver(ticket: MemoryTicket, outcome: Outcome): void {
    if (ticket.dropped) return;
    ticket.outcome = outcome;
    const { waiter } = this;
    if (waiter === undefined) {
      this.queue.push(ticket);
    } else {
      this.waiter = undefined;
      this.time = this.clock.now();
      waiter(ticket);
    }
  }
}

/** A ticket that is also the {@link StepIo} of its effect, so that a step costs one object. */
class MemoryTicket implements Ticket, StepIo {
  outcome: Outcome | undefined = undefined;
  settle: ((outcome: Outcome) => void) | undefined = undefined;
  dropped = false;
  undo: (() => void) | undefined = undefined;
  private controller: AbortController | undefined = undefined;

  constructor(
    readonly key: string,
    private readonly runId: string,
  ) {}

  get idempotencyKey(): string {
    return `${this.runId}/${this.key}`;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.dropped) this.controller.abort(new SkeinError('SKEIN_CANCELLED', 'the step was cancelled'));
    }
    return this.controller.signal;
  }

  drop(): void {
    this.dropped = true;
    this.undo?.();
    this.controller?.abort(new SkeinError('SKEIN_CANCELLED', 'the step was cancelled'));
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
