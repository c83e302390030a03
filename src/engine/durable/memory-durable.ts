import type { Clock } from '../../base/clock.js';
import { systemClock } from '../../base/clock.js';
import { SkeinError, toErrorData } from '../../base/errors.js';
import { seededRandom } from '../../base/ids.js';
import type { Json } from '../../base/json.js';
import { recordText, isThenable } from '../../base/json.js';
import type { Limit } from '../../base/duration.js';
import { Queue } from '../../base/collections.js';
import type { OpenQuestion } from '../../events/question.js';
import { schemaFindings } from '../../lang/schema-check.js';
import { askKey } from '../../base/address.js';
import { waitingFor } from './open-question.js';
import type {
  Durable,
  Effect,
  Outcome,
  Question,
  StepIo,
  StepOptions,
  Taker,
  Ticket,
  Wait,
  Waiter,
} from '../ports/durable.js';

/** Answers a question of a run, from a terminal or from code: text, or what the question's schema asks for. */
export type AnswerQuestion = (question: Question, address: string, signal: AbortSignal) => Promise<unknown>;

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
 * startRun(plan, { durable: new MemoryDurable('run-1', { answer: async (question) => prompt(question.text) }) });
 */
export class MemoryDurable implements Durable {
  private readonly clock: Clock;
  private readonly answer: AnswerQuestion | undefined;
  private taker: Taker | undefined = undefined;
  /** Outcomes that came while the interpreter was busy. */
  private queue: Queue<MemoryTicket> | undefined = undefined;
  private busy = false;
  /** The ticket whose promise has the shared reactions; until that settles, also when the ticket was dropped. */
  private shared: MemoryTicket | undefined = undefined;
  private onValue: ((value: unknown) => void) | undefined = undefined;
  private onError: ((error: unknown) => void) | undefined = undefined;
  /** The time of this delivery; undefined until somebody asks for it. */
  private time: number | undefined = undefined;
  /** Questions that wait until those before them are answered. A promise comes into being when its turn comes. */
  private turns: Queue<QuestionTurn> | undefined = undefined;
  private asking = false;

  /** When somebody first asked how long it worked: what was before is of no matter to them. */
  private watchedFrom: number | undefined = undefined;
  /** Milliseconds in which people thought. */
  private waited = 0;

  constructor(
    readonly runId: string,
    options: MemoryDurableOptions = {},
  ) {
    this.clock = options.clock ?? systemClock;
    this.answer = options.answer;
  }

  get recorded(): boolean {
    return false;
  }

  get replaying(): boolean {
    return false;
  }

  deliverTo(taker: Taker): void {
    this.taker = taker;
  }

  step(key: string, effect: Effect, _options?: StepOptions): Ticket {
    const ticket = new MemoryTicket(key, this);
    try {
      const value: unknown = effect.perform(ticket);
      if (!isThenable(value)) ticket.outcome = { ok: true, value };
      else this.follow(ticket, value);
    } catch (error) {
      ticket.outcome = { ok: false, error: toErrorData(error) };
    }
    return ticket;
  }

  timer(key: string, ms: number, _fleeting?: boolean): Ticket {
    const ticket = new MemoryTicket(key, this);
    ticket.undo = this.clock.setTimer(ms, () => this.settle(ticket, { ok: true, value: undefined }));
    return ticket;
  }

  signal(key: string, wait: Wait): Ticket {
    const ticket = new MemoryTicket(key, this);
    const { question, expiresMs } = wait;
    const open = this.opens(key, wait);
    if (this.answer === undefined || question === undefined) {
      this.taker?.unanswered(open);
      ticket.outcome = { ok: false, error: toErrorData(unanswered(wait, key)) };
      return ticket;
    }
    if (expiresMs !== undefined) {
      ticket.undo = this.clock.setTimer(expiresMs, () => {
        const message = `no answer came within ${expiresMs} ms: ${question.text}`;
        this.settle(ticket, { ok: false, error: { code: 'SKEIN_TIMEOUT', message, ...PASSING } });
        ticket.abort();
      });
    }
    this.takeTurn({ question, open, ticket, answered: undefined });
    return ticket;
  }

  /**
   * A question that an effect puts, when its turn comes.
   *
   * @throws SkeinError `SKEIN_QUESTION` when nobody can answer, `SKEIN_ANSWER` for an answer that does not match the schema
   */
  async ask(name: string, question: Question, ticket: MemoryTicket, limit?: Limit): Promise<unknown> {
    const wait = { name, question };
    const key = askKey(ticket.key, name);
    const open = this.opens(key, wait);
    if (this.answer === undefined) {
      this.taker?.unanswered(open);
      throw unanswered(wait, key);
    }
    const asked = new Promise((answered) => this.takeTurn({ question, open, ticket, answered }));
    if (limit === undefined) return await asked;
    let stop: (() => void) | undefined;
    const late = new Promise((_, reject) => {
      const ms = 'at' in limit ? limit.at - this.clock.now() : limit.ms;
      stop = this.clock.setTimer(ms, () => reject(new SkeinError('SKEIN_TIMEOUT', lateWords(question), PASSING)));
    });
    return await Promise.race([asked, late]).finally(stop);
  }

  private opens(key: string, wait: Wait): OpenQuestion {
    const open = waitingFor(key, wait, this.clock.now());
    this.taker?.waitsFor(open, false);
    return open;
  }

  private takeTurn(turn: QuestionTurn): void {
    (this.turns ??= new Queue()).put(turn);
    if (!this.asking) this.nextTurn();
  }

  private nextTurn(): void {
    const turn = this.turns?.take();
    this.asking = turn !== undefined;
    if (turn === undefined) return;
    const answer = this.put(turn);
    if (turn.answered === undefined) this.follow(turn.ticket, answer);
    else turn.answered(answer);
  }

  private async put({ question, open, ticket, answered }: QuestionTurn): Promise<unknown> {
    // Whoever has it put is not done yet.
    await Promise.resolve();
    const from = this.clock.now();
    try {
      if (this.answer === undefined || ticket.dropped || ticket.outcome !== undefined) return undefined;
      return checked(question, await this.answer(question, open.key, ticket.signal));
    } catch (error) {
      if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_QUESTION') throw error;
      this.taker?.unanswered(open);
      if (error.details !== undefined) throw error;
      throw new SkeinError(error.code, error.message, { ...toErrorData(error), ...detailsOf(question, open.key) });
    } finally {
      // Time has passed while a person thought, whoever is waiting for it.
      this.time = undefined;
      this.waited += this.clock.now() - from;
      if (answered === undefined) ticket.letGo();
      this.nextTurn();
    }
  }

  drop(ticket: Ticket): void {
    // What made the interpreter drop it, a cancelled run for one, happened now.
    this.time = undefined;
    if (ticket instanceof MemoryTicket) ticket.drop();
  }

  now(): number {
    this.time ??= this.clock.now();
    return this.time;
  }

  /** Effects end between deliveries too, and nothing is replayed here. */
  settledAt(): number {
    return this.clock.now();
  }

  worked(): number {
    const now = this.clock.now();
    return Math.max(0, now - (this.watchedFrom ??= now) - this.waited);
  }

  random(key: string): number {
    return seededRandom(`${this.runId}/${key}`)();
  }

  /** Most runs have one effect under way at a time: those share their reactions, which are a good part of what a waiting run holds. */
  private follow(ticket: MemoryTicket, promise: PromiseLike<unknown>): void {
    if (this.shared !== undefined) {
      promise.then(
        (value) => this.settle(ticket, { ok: true, value }),
        (error: unknown) => this.settle(ticket, { ok: false, error: toErrorData(error) }),
      );
      return;
    }
    this.shared = ticket;
    this.onValue ??= (value) => this.settleShared({ ok: true, value });
    this.onError ??= (error) => this.settleShared({ ok: false, error: toErrorData(error) });
    promise.then(this.onValue, this.onError);
  }

  private settleShared(outcome: Outcome): void {
    const { shared } = this;
    this.shared = undefined;
    if (shared !== undefined) this.settle(shared, outcome);
  }

  private settle(ticket: MemoryTicket, outcome: Outcome): void {
    if (ticket.dropped || ticket.outcome !== undefined) return;
    ticket.outcome = outcome;
    ticket.undo?.();
    this.deliver(ticket);
  }

  private deliver(ticket: MemoryTicket): void {
    if (this.busy) (this.queue ??= new Queue()).put(ticket);
    else this.hand(ticket);
  }

  private hand(ticket: MemoryTicket): void {
    this.busy = true;
    this.time = undefined;
    const rest = this.taker?.take(ticket);
    if (rest === undefined) this.busy = false;
    else void rest.then(() => this.handQueued());
  }

  private handQueued(): void {
    this.busy = false;
    for (let next = this.queue?.take(); next !== undefined; next = this.queue?.take()) {
      if (!next.dropped) this.hand(next);
      if (this.busy) return;
    }
    this.queue = undefined;
  }
}

function unanswered({ name, question }: Wait, address: string): SkeinError {
  const what = question === undefined ? `the event '${name}'` : `an answer to: ${question.text}`;
  return new SkeinError('SKEIN_QUESTION', `waits for ${what}`, {
    hint: 'run it on a terminal, or give the answer from code',
    ...detailsOf(question, address),
  });
}

const PASSING = { retryable: true } as const;

function lateWords({ text }: Question): string {
  return `no answer came in time: ${text}`;
}

function detailsOf(question: Question | undefined, key: string): { readonly details?: Json } {
  return question === undefined ? {} : { details: JSON.parse(recordText({ key, question })) as Json };
}

function checked({ schema }: Question, answer: unknown): unknown {
  const findings = schema === undefined ? [] : schemaFindings(schema, answer);
  if (findings.length === 0) return answer;
  throw new SkeinError('SKEIN_ANSWER', `the answer does not match what was asked for: ${findings.join('; ')}`);
}

/** A question that is put when those before it are answered. */
interface QuestionTurn {
  readonly question: Question;
  readonly open: OpenQuestion;
  readonly ticket: MemoryTicket;
  /** Takes the answer; absent: it is the outcome of the ticket. */
  readonly answered: ((answer: Promise<unknown>) => void) | undefined;
}

/** A ticket that is also the {@link StepIo} of its effect, so that a step costs one object. */
class MemoryTicket implements Ticket, StepIo {
  outcome: Outcome | undefined = undefined;
  waiter: Waiter | undefined = undefined;
  dropped = false;
  undo: (() => void) | undefined = undefined;
  private controller: AbortController | undefined = undefined;

  constructor(
    readonly key: string,
    private readonly durable: MemoryDurable,
  ) {}

  get idempotencyKey(): string {
    return `${this.durable.runId}/${this.key}`;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.dropped) this.controller.abort(new SkeinError('SKEIN_CANCELLED', 'the step was cancelled'));
    }
    return this.controller.signal;
  }

  ask(name: string, question: Question, limit?: Limit): Promise<unknown> {
    return this.durable.ask(name, question, this, limit);
  }

  /** Nobody works for it any more. What waited for long is old to the collector of garbage, and keeps alive what it has got since. */
  letGo(): void {
    this.controller = undefined;
  }

  drop(): void {
    this.dropped = true;
    this.undo?.();
    this.abort();
  }

  /** Tells whoever works for it to stop. */
  abort(): void {
    this.controller?.abort(new SkeinError('SKEIN_CANCELLED', 'the step was cancelled'));
  }
}
