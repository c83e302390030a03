import { checkOptions, type OptionForms } from '../base/options.js';
import { SkeinError, fromErrorData, toErrorData } from '../base/errors.js';
import { isThenable } from '../base/at-once.js';
import type { Json } from '../base/json.js';
import { askKey } from '../base/address.js';
import { waitingFor } from '../engine/durable/open-question.js';
import type { Durable, Effect, Outcome, Question, StepIo, Taker, Ticket, Wait } from '../engine/ports/durable.js';
import type { StepOptions } from '../engine/ports/recording.js';
import type { OpenQuestion } from '../events/question.js';
import {
  awaited,
  isTicking,
  newTicket,
  noop,
  overdue,
  settled,
  type Entry,
  type PendingTicket,
} from './manual-ticket.js';
import { seededRandom as sequenceOf } from '../base/ids.js';

/** How a {@link ManualDurable} behaves. */
export interface ManualDurableOptions {
  /** Defaults to `manual`. Also the seed of `random()`. */
  readonly runId?: string;
  /** Start of the virtual clock, in milliseconds since 1970. Defaults to 2026-01-01. */
  readonly startAt?: number;
  /**
   * Returns the index of the deliverable ticket to deliver next; tickets are offered in the order in which they were started. If absent,
   * the test decides with `deliver`.
   */
  readonly choose?: (offered: readonly PendingTicket[]) => number;
  /**
   * Whether to return the ticket of a synchronous effect already settled, as the port allows: for all effects, or for keys for which the
   * function returns true. The function runs right after the effect. By default every ticket is delivered by choice.
   */
  readonly settleAtOnce?: boolean | ((key: string) => boolean);
  /** Returns a name for a ticket, right after its effect was called. Defaults to its key. */
  readonly label?: (key: string) => string;
}

const OPTIONS: OptionForms<ManualDurableOptions> = {
  runId: 'text',
  startAt: 'a number',
  choose: 'a function',
  settleAtOnce: 'true or false, or a function',
  label: 'a function',
};

/**
 * A {@link Durable} back end for tests: outcomes are delivered in the order that the test, or a seeded chooser, decides. Effects start at
 * once, as in production; only the delivery of their results is held back. Timers run on a virtual clock: only the earliest timer is
 * deliverable, and delivering it moves the clock. Signals become deliverable by `answer`; a signal that expires is deliverable, as a
 * timeout, if no timer is due before. A promise of a chosen effect is awaited unless the effect is asking a question: the question is
 * pending too, and the effect continues once it is answered.
 *
 * @example
 * const durable = new ManualDurable();
 * const run = startRun(plan, { bindings, durable });
 * await durable.deliver('slow'); // 'slow' ends before 'quick'
 * await durable.deliver('quick');
 * await run.result;
 *
 * @example
 * // Any order, but the same one for the same seed:
 * const durable = new ManualDurable({ choose: seededChooser(42) });
 */
export class ManualDurable implements Durable {
  readonly runId: string;
  readonly recorded: boolean = false;
  readonly replaying: boolean = false;
  readonly #options: ManualDurableOptions;
  readonly #entries = new Set<Entry>();
  readonly #orders: { readonly key: string; readonly taken: () => void }[] = [];
  /** Keys in the order of their delivery. */
  readonly delivered: string[] = [];
  #now: number;
  #wake: (() => void) | undefined;
  #taker: Taker | undefined;

  constructor(options: ManualDurableOptions = {}) {
    checkOptions<ManualDurableOptions>('ManualDurable', options, OPTIONS);
    this.#options = options;
    this.runId = options.runId ?? 'manual';
    this.#now = options.startAt ?? Date.UTC(2026, 0, 1);
  }

  /** Tickets that have been started and neither delivered nor dropped, in the order of starting. */
  get pending(): readonly PendingTicket[] {
    return [...this.#entries];
  }

  step(key: string, effect: Effect, _options?: StepOptions): Ticket {
    const controller = new AbortController();
    const io: StepIo = {
      idempotencyKey: `${this.runId}/${key}`,
      signal: controller.signal,
      ask: (name, question) => this.#ask(key, name, question),
    };
    const ticket = newTicket(key);
    let ready: Outcome | undefined;
    let running: Promise<Outcome> | undefined;
    try {
      const value = effect.perform(io);
      if (isThenable(value)) running = settled(value);
      else ready = { ok: true, value };
    } catch (error) {
      ready = { ok: false, error: toErrorData(error) };
    }
    const atOnce = this.#options.settleAtOnce ?? false;
    if (ready !== undefined && (typeof atOnce === 'function' ? atOnce(key) : atOnce)) {
      ticket.outcome = ready;
      return ticket;
    }
    const abort = (): void => controller.abort(new SkeinError('SKEIN_CANCELLED', `${key} is no longer needed`));
    this.#add({
      ...this.#named(key, 'step'),
      ticket,
      ...(running === undefined ? {} : { running }),
      abort,
      ready,
      giveUp: undefined,
    });
    return ticket;
  }

  worked(): number {
    return this.now();
  }

  settledAt(): number {
    return this.#now;
  }

  timer(key: string, ms: number, _fleeting?: boolean): Ticket {
    const ticket = { ...newTicket(key), setAt: this.#now };
    const ready: Outcome = { ok: true, value: undefined };
    this.#add({ ...this.#named(key, 'timer'), ...this.#due(ms), ticket, abort: noop, ready, giveUp: undefined });
    return ticket;
  }

  signal(key: string, wait: Wait): Ticket {
    const ticket = newTicket(key);
    const { name, question, expiresMs } = wait;
    const asked = question === undefined ? {} : { question };
    const due = expiresMs === undefined ? {} : this.#due(expiresMs);
    const entry = { ...this.#named(key, 'signal'), name, ...asked, ...due, ticket };
    this.#add({ ...entry, abort: noop, ready: undefined, giveUp: undefined });
    return ticket;
  }

  #due(ms: number): { readonly dueAt: number } {
    return { dueAt: this.#now + Math.max(0, ms) };
  }

  #ask(by: string, name: string, question: Question): Promise<unknown> {
    const key = askKey(by, name);
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void => {
        if (outcome.ok) resolve(outcome.value);
        else reject(fromErrorData(outcome.error));
      };
      const entry = { ...this.#named(key, 'signal'), name, question, ticket: newTicket(key), asked: { by, settle } };
      this.#add({ ...entry, abort: noop, ready: undefined, giveUp: undefined });
    });
  }

  /** Answers the oldest signal or question that waits for `name` with `value`. Returns false if none waits. */
  answer(name: string, value: unknown): boolean {
    return this.#settle(name, () => ({ ok: true, value }));
  }

  /** Reports to the oldest signal or question that waits for `name` that nobody can answer at present. Returns false if none waits. */
  refuse(name: string): boolean {
    return this.#settle(name, (entry) => {
      const { key, question } = entry;
      this.#taker?.unanswered(this.#waitFor(entry));
      const details = JSON.parse(JSON.stringify({ key, question })) as Json;
      return { ok: false, error: { code: 'SKEIN_QUESTION', message: `no one answers '${name}'`, details } };
    });
  }

  #settle(name: string, outcomeOf: (entry: Entry) => Outcome): boolean {
    for (const entry of this.#entries) {
      if (entry.kind !== 'signal' || entry.name !== name || entry.ready !== undefined) continue;
      const outcome = outcomeOf(entry);
      if (entry.asked === undefined) entry.ready = outcome;
      else {
        this.#entries.delete(entry);
        entry.asked.settle(outcome);
      }
      this.#stir();
      return true;
    }
    return false;
  }

  /**
   * Delivers the ticket with this key or label next, at once or when it has been started; calls are served in order. Resolves when
   * everything that the delivery woke has settled.
   */
  deliver(key: string): Promise<void> {
    return new Promise((taken) => {
      this.#orders.push({ key, taken });
      this.#stir();
    });
  }

  deliverTo(taker: Taker): void {
    this.#taker = taker;
    void this.#hand(taker);
  }

  async #hand(taker: Taker): Promise<never> {
    for (;;) {
      const ticket = await this.#next();
      const order = this.#options.choose === undefined ? this.#orders.shift() : undefined;
      await taker.take(ticket);
      order?.taken();
    }
  }

  async #next(): Promise<Ticket> {
    for (;;) {
      // After one turn of the event loop, everything that can start before the next outcome has started and is offered.
      await new Promise((resolve) => setImmediate(resolve));
      const entry = this.#chosen();
      if (entry === undefined) await this.#changed();
      else {
        const outcome = entry.ready ?? (entry.kind === 'signal' ? overdue(entry) : await awaited(entry));
        if (outcome !== undefined && this.#entries.delete(entry)) return this.#handOut(entry, outcome);
      }
    }
  }

  drop(ticket: Ticket): void {
    for (const entry of this.#entries) {
      if (entry.ticket === ticket || entry.asked?.by === ticket.key) {
        this.#entries.delete(entry);
        entry.abort();
        entry.giveUp?.();
      }
    }
  }

  now(): number {
    return this.#now;
  }

  random(key: string): number {
    return seededRandom(`${this.runId}/${key}`)();
  }

  #named(key: string, kind: PendingTicket['kind']): Pick<PendingTicket, 'key' | 'kind' | 'label'> {
    return { key, kind, label: this.#options.label?.(key) ?? key };
  }

  #waitFor({ key, name = '', question }: Entry): OpenQuestion {
    return waitingFor(key, { name, ...(question === undefined ? {} : { question }) }, this.#now);
  }

  #add(entry: Entry): void {
    this.#entries.add(entry);
    if (entry.kind === 'signal') this.#taker?.waitsFor(this.#waitFor(entry), false);
    this.#stir();
  }

  #chosen(): Entry | undefined {
    const offered = this.#deliverable();
    if (offered.length === 0) return undefined;
    const choose = this.#options.choose;
    if (choose !== undefined) {
      const index = choose(offered);
      const entry = offered[index];
      if (entry === undefined) throw new RangeError(`the chooser said ${index} of ${offered.length} tickets`);
      return entry;
    }
    const order = this.#orders[0];
    return order === undefined
      ? undefined
      : offered.find((entry) => entry.key === order.key || entry.label === order.key);
  }

  #deliverable(): Entry[] {
    const entries = [...this.#entries];
    const earliest = Math.min(...entries.map((entry) => (isTicking(entry) ? (entry.dueAt ?? Infinity) : Infinity)));
    const asking = new Set(entries.map((entry) => entry.asked?.by));
    return entries.filter((entry) => {
      if (entry.kind === 'step') return !asking.has(entry.key);
      return !isTicking(entry) || entry.dueAt === earliest;
    });
  }

  #handOut(entry: Entry, outcome: Outcome): Ticket {
    if (isTicking(entry) && entry.dueAt !== undefined) this.#now = Math.max(this.#now, entry.dueAt);
    this.delivered.push(entry.key);
    entry.ticket.outcome = outcome;
    return entry.ticket;
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #stir(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/**
 * Returns a generator of numbers in [0, 1) that is the same for the same seed on every machine.
 *
 * @example
 * const random = seededRandom('case 17');
 * random() === seededRandom('case 17')(); // true
 */
export function seededRandom(seed: string | number): () => number {
  return sequenceOf(String(seed));
}

/**
 * Returns a chooser that picks any of the offered items by a seed: the completion order of a simulated run.
 *
 * @example
 * const durable = new ManualDurable({ choose: seededChooser(42) });
 */
export function seededChooser(seed: string | number): (offered: readonly unknown[]) => number {
  const random = seededRandom(seed);
  return (offered) => Math.floor(random() * offered.length);
}
