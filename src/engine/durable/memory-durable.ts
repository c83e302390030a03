import { settled, systemClock, type Clock } from '../../base/clock.js';
import { toErrorData } from '../../base/errors.js';
import { seededRandom } from '../../base/ids.js';
import { isThenable } from '../../base/at-once.js';
import type { Limit } from '../../base/duration.js';
import { Queue } from '../../base/collections.js';
import type {
  AnswerSource,
  Durable,
  Effect,
  Outcome,
  Question,
  Reserve,
  Taker,
  Ticket,
  Wait,
} from '../ports/durable.js';
import type { Identity, StepOptions } from '../ports/recording.js';
import { MemoryQuestions, type AnswerQuestion } from './memory-questions.js';
import { MemoryTicket } from './memory-ticket.js';
import type { BudgetHost, RunBudget, Spender, Stand } from './run-budget.js';
import { reserveInParts } from './part-under-way.js';
import { isPart, type RunInside } from './run-inside.js';

/** Options of the back end in memory. */
export interface MemoryDurableOptions {
  readonly clock?: Clock;
  /** Answers questions. Absent if nobody can answer. */
  readonly answer?: AnswerQuestion | undefined;
  /** True if questions are asked as soon as they come up. */
  readonly atOnce?: boolean | undefined;
  /** Creates the budget of the run. Absent if nothing limits it. */
  readonly budget?: MakeBudget | undefined;
  /** Records effects as parts of an effect of another run. Absent if the run is not inside a recorded one. */
  readonly inside?: RunInside | undefined;
}

/** Creates the budget of a run for its back end. */
export type MakeBudget = <S extends Spender>(host: BudgetHost<S>) => RunBudget<S>;

/**
 * The back end without a store: a queue. No journal, no hashing; the same interpreter, only faster. Outcomes are delivered in the order in
 * which they happen.
 *
 * - R4 When only unanswered questions are left, each gets the outcome that nobody can answer it in this session.
 *
 * @example
 * startRun(plan, { durable: new MemoryDurable('run-1', { answer: async (question) => prompt(question.text) }) });
 */
export class MemoryDurable implements Durable {
  private readonly clock: Clock;
  private readonly asks: Pick<MemoryDurableOptions, 'answer' | 'atOnce'>;
  readonly inside: RunInside | undefined;
  private taker: Taker | undefined = undefined;
  /** Outcomes that arrived while the interpreter was busy. */
  private queue: Queue<MemoryTicket> | undefined = undefined;
  private busy = false;
  /** The ticket whose promise has the shared reactions, until the promise settles, even if the ticket was dropped. */
  private shared: MemoryTicket | undefined = undefined;
  private onValue: ((value: unknown) => void) | undefined = undefined;
  private onError: ((error: unknown) => void) | undefined = undefined;
  /** The time of this delivery; undefined until it is read. */
  private time: number | undefined = undefined;
  private questions: MemoryQuestions | undefined = undefined;
  /** Number of effects and timers in progress, without those that wait until nothing else runs. */
  private active = 0;
  /** Tickets that wait until nothing else runs. */
  private standing: Set<MemoryTicket> | undefined = undefined;
  private readonly budget: RunBudget<MemoryTicket> | undefined;
  private looking = false;

  /** When the working time was first read. */
  private watchedFrom: number | undefined = undefined;
  /** Milliseconds spent waiting for people. */
  private waited = 0;

  constructor(
    readonly runId: string,
    options: MemoryDurableOptions = {},
  ) {
    this.clock = options.clock ?? systemClock;
    this.asks = options;
    this.inside = options.inside;
    this.budget = options.budget?.({
      now: () => this.clock.now(),
      stand: (ticket, stand) => this.stand(ticket, stand),
      leave: (ticket, stand) => this.leave(ticket, stand),
      begins: (ticket) => this.beginsInside(ticket),
      ends: (ticket) => this.endsInside(ticket),
      waits: (ticket) => this.inside?.waits(ticket),
      ask: (ticket, name, question) => this.ask(name, question, ticket),
    });
    this.inside?.begins(() => this.isAtWork(), this.budget);
  }

  get recorded(): boolean {
    return false;
  }

  get replaying(): boolean {
    return false;
  }

  get isInside(): boolean {
    return this.inside !== undefined;
  }

  deliverTo(taker: Taker): void {
    this.taker = taker;
  }

  step(key: string, effect: Effect, options?: StepOptions): Ticket {
    const ticket = new MemoryTicket(key, this);
    const { inside } = this;
    ticket.works = this.budget !== undefined;
    if (inside !== undefined && isPart(options)) {
      this.begins(ticket);
      inside.perform(ticket, effect, options).then(
        (outcome) => this.settle(ticket, outcome),
        (error: unknown) => this.settle(ticket, { ok: false, error: toErrorData(error) }),
      );
      return ticket;
    }
    try {
      const value: unknown = effect.perform(ticket);
      if (!isThenable(value)) ticket.outcome = { ok: true, value };
      else this.follow(ticket, value);
    } catch (error) {
      ticket.outcome = { ok: false, error: toErrorData(error) };
    }
    return ticket;
  }

  isRecorded(key: string, identity?: Identity): boolean {
    return this.inside?.isRecorded(key, identity) === true;
  }

  isTaken(key: string, identity: Identity): boolean {
    return this.inside?.isTaken(key, identity) === true;
  }

  timer(key: string, ms: number, fleeting = false): Ticket {
    const ticket = new MemoryTicket(key, this);
    if (!fleeting) this.begins(ticket);
    ticket.setAt = this.clock.now();
    ticket.undo = this.clock.setTimer(ms, () => this.settle(ticket, { ok: true, value: undefined }));
    return ticket;
  }

  signal(key: string, wait: Wait): Ticket {
    const ticket = new MemoryTicket(key, this);
    this.asked().put(ticket, wait);
    return ticket;
  }

  /** Asks a question of an effect. */
  ask(name: string, question: Question, ticket: MemoryTicket, limit?: Limit, from?: AnswerSource): Promise<unknown> {
    return this.asked().ask(ticket, name, question, limit, from);
  }

  reserveFor(ticket: MemoryTicket): Reserve | undefined {
    return this.budget && reserveInParts(ticket, this.budget.reserveFor(ticket));
  }

  private asked(): MemoryQuestions {
    this.questions ??= new MemoryQuestions({
      ...this.asks,
      clock: this.clock,
      taker: () => this.taker,
      stand: (ticket, stand) => this.stand(ticket, stand),
      leave: (ticket, stand) => this.leave(ticket, stand),
      waits: (ticket) => this.inside?.waits(ticket),
      follow: (ticket, promise) => this.follow(ticket, promise),
      settle: (ticket, outcome) => this.settle(ticket, outcome),
      thought: (ms) => {
        this.time = undefined;
        this.waited += ms;
        this.wake();
      },
    });
    return this.questions;
  }

  drop(ticket: Ticket): void {
    // The reason for the drop, such as a cancelled run, happened at the current time.
    this.time = undefined;
    if (!(ticket instanceof MemoryTicket)) return;
    this.ends(ticket);
    ticket.drop();
    this.wake();
  }

  now(): number {
    this.time ??= this.clock.now();
    return this.time;
  }

  /** Effects also end between deliveries, and nothing is replayed here. */
  settledAt(): number {
    return this.clock.now();
  }

  worked(): number {
    const now = this.clock.now();
    return Math.max(0, now - (this.watchedFrom ??= now) - this.waited);
  }

  random(key: string): number {
    return this.inside?.random(key) ?? seededRandom(`${this.runId}/${key}`)();
  }

  /** Most runs have one effect in progress at a time. Such effects share their reactions, a good part of a waiting run's memory. */
  private follow(ticket: MemoryTicket, promise: PromiseLike<unknown>): void {
    if (ticket.stands === undefined) this.begins(ticket);
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
    this.ends(ticket);
    ticket.outcome = ticket.short ?? outcome;
    ticket.undo?.();
    if (this.busy) (this.queue ??= new Queue()).put(ticket);
    else this.hand(ticket);
  }

  private begins(ticket: MemoryTicket): void {
    if (ticket.running) return;
    ticket.running = true;
    this.active += 1;
    if (ticket.works) this.budget?.works(ticket.key);
  }

  private stops(ticket: MemoryTicket): void {
    if (!ticket.running) return;
    ticket.running = false;
    this.active -= 1;
    if (ticket.works) this.budget?.rests(ticket.key);
  }

  private ends(ticket: MemoryTicket): void {
    this.budget?.close(ticket);
    this.stops(ticket);
    for (const stand of ticket.stands ?? []) this.inside?.goesOn(stand);
    if (ticket.stands !== undefined) this.standing?.delete(ticket);
  }

  private beginsInside(ticket: MemoryTicket): void {
    ticket.effects += 1;
    if (ticket.stands !== undefined) this.begins(ticket);
  }

  private endsInside(ticket: MemoryTicket): void {
    ticket.effects -= 1;
    if (ticket.stands !== undefined && ticket.effects === 0) this.rests(ticket);
  }

  private rests(ticket: MemoryTicket): void {
    this.stops(ticket);
    this.wake();
  }

  private hand(ticket: MemoryTicket): void {
    this.busy = true;
    this.time = undefined;
    const rest = this.taker?.take(ticket);
    if (rest === undefined) this.busy = false;
    else void rest.then(() => this.handQueued());
    this.wake();
  }

  private handQueued(): void {
    this.busy = false;
    for (let next = this.queue?.take(); next !== undefined; next = this.queue?.take()) {
      if (!next.dropped) this.hand(next);
      if (this.busy) return;
    }
    this.queue = undefined;
    this.wake();
  }

  private stand(ticket: MemoryTicket, stand: Stand): void {
    (ticket.stands ??= new Set()).add(stand);
    (this.standing ??= new Set()).add(ticket);
    this.inside?.stands(stand);
    if (ticket.effects === 0) this.rests(ticket);
  }

  /** Ends a wait, even if other work of the run continues. */
  private leave(ticket: MemoryTicket, stand: Stand): void {
    this.inside?.goesOn(stand);
    if (ticket.stands?.delete(stand) === true && ticket.stands.size === 0) this.goesOn(ticket);
  }

  /** Checks, after the turn of the event loop, whether only tickets that wait for this are left. */
  private wake(): void {
    this.inside?.rests();
    if (this.standing === undefined || this.standing.size === 0 || this.looking) return;
    this.looking = true;
    void this.look();
  }

  private async look(): Promise<void> {
    do {
      await settled();
      await this.taker?.resting;
    } while (this.taker?.resting !== undefined);
    this.looking = false;
    this.inside?.rests();
    const { standing, busy, active, questions } = this;
    if (standing === undefined || busy || active > 0 || questions?.asking === true) return;
    const all = [...standing].flatMap((ticket) => [...(ticket.stands ?? [])].map((stand) => ({ ticket, stand })));
    const first = all.filter(({ stand }) => stand.first);
    for (const { ticket, stand } of first.length === 0 ? all : first) {
      this.leave(ticket, stand);
      stand.alone();
    }
  }

  /** Whether anything goes on in this run that waits for nothing outside of it. */
  private isAtWork(): boolean {
    const { busy, active, inside, looking } = this;
    const resting = this.taker?.resting;
    void resting?.then(() => inside?.rests());
    return busy || looking || resting !== undefined || active > (inside?.waitingEffects ?? 0);
  }

  private goesOn(ticket: MemoryTicket): void {
    this.standing?.delete(ticket);
    ticket.stands = undefined;
    this.begins(ticket);
  }
}
