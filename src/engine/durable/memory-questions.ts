import type { Clock } from '../../base/clock.js';
import { Queue } from '../../base/collections.js';
import type { Limit } from '../../base/duration.js';
import { SkeinError, toErrorData } from '../../base/errors.js';
import { asRecorded, type Json } from '../../base/json.js';
import { askKey } from '../../base/address.js';
import type { OpenQuestion } from '../../events/question.js';
import type { AnswerSource, Outcome, Question, Taker, Wait } from '../ports/durable.js';
import type { MemoryTicket } from './memory-ticket.js';
import { answerIn, waitingFor } from './open-question.js';
import { asPartNow } from './part-under-way.js';
import type { Stand } from './run-budget.js';

/** An open question, and its address. */
export interface WaitingQuestion {
  readonly question: Question;
  readonly address: string;
}

/**
 * Answers a question of a run, from a terminal or from code: with text, or what the question's schema asks for. Questions are asked one at
 * a time; `waiting` returns the next ones, for a caller that shows them together.
 */
export type AnswerQuestion = (
  question: Question,
  address: string,
  signal: AbortSignal,
  waiting: () => readonly WaitingQuestion[],
) => Promise<unknown>;

/** The services that questions need from the back end in memory. */
interface QuestionParts {
  readonly clock: Clock;
  /** Absent if nobody can answer. */
  readonly answer?: AnswerQuestion | undefined;
  /** True if the run around this one asks the questions: it has to know all of them, since some may be answered in its record. */
  readonly atOnce?: boolean | undefined;
  readonly taker: () => Taker | undefined;
  /** Makes a ticket wait until only tickets that wait like this are left in the run. */
  readonly stand: (ticket: MemoryTicket, stand: Stand) => void;
  /** Ends such a wait. */
  readonly leave: (ticket: MemoryTicket, stand: Stand) => void;
  /** A ticket waits for an answer. Returns a function to call when the wait ends. */
  readonly waits: (ticket: MemoryTicket) => (() => void) | undefined;
  readonly follow: (ticket: MemoryTicket, promise: Promise<unknown>) => void;
  readonly settle: (ticket: MemoryTicket, outcome: Outcome) => void;
  /** Reports the milliseconds that a person took to answer. */
  readonly thought: (ms: number) => void;
}

/** A question that is asked after the answers to those before it. */
interface QuestionTurn {
  readonly wait: Wait;
  readonly open: OpenQuestion;
  readonly ticket: MemoryTicket;
  /** Receives the answer; undefined if the answer is the outcome of the ticket. */
  readonly answered: ((answer: Promise<unknown>) => void) | undefined;
  /** Aborted at its deadline, if the ticket outlives that. */
  readonly late: AbortController | undefined;
  /** Asks, as a part of what the asker belongs to. */
  readonly ask: (turn: QuestionTurn) => Promise<unknown>;
  /** Its wait until nothing else runs. */
  stand: Stand | undefined;
  /** Called when the wait for an answer is over. */
  goesOn?: (() => void) | undefined;
  /** Receives the source of the answer. */
  readonly from?: AnswerSource | undefined;
}

/** The questions of a run in memory, asked one at a time, unless a run around it asks them. A question that nobody can answer stays open until nothing else runs. */
export class MemoryQuestions {
  /** Questions that wait for those before them. Their promises are created when their turn comes. */
  private readonly turns = new Queue<QuestionTurn>();
  /** Number of questions that are being answered. */
  private asked = 0;
  /** When the first of them was asked. */
  private askedFrom = 0;

  constructor(private readonly parts: QuestionParts) {}

  get asking(): boolean {
    return this.asked > 0;
  }

  /** Asks a question whose answer is the outcome of the ticket. */
  put(ticket: MemoryTicket, wait: Wait): void {
    const { expiresMs, question } = wait;
    const turn = {
      wait,
      open: this.opens(ticket.key, wait),
      ticket,
      answered: undefined,
      late: undefined,
      ask: this.asker(),
      stand: undefined,
    };
    const { answer, clock, settle, follow } = this.parts;
    if (expiresMs !== undefined) {
      ticket.undo = clock.setTimer(expiresMs, () => {
        const message = `${whatOf(wait)} did not come within ${expiresMs} ms`;
        settle(ticket, { ok: false, error: { code: 'SKEIN_TIMEOUT', message, ...PASSING } });
        ticket.abort();
      });
    }
    if (answer === undefined || question === undefined) follow(ticket, this.leftOpen(turn));
    else this.takeTurn(turn);
  }

  /**
   * Asks a question of an effect, when its turn comes.
   *
   * @throws SkeinError `SKEIN_QUESTION` if nobody can answer, `SKEIN_ANSWER` for an answer that does not match the schema
   */
  async ask(
    ticket: MemoryTicket,
    name: string,
    question: Question,
    limit?: Limit,
    from?: AnswerSource,
  ): Promise<unknown> {
    const wait = { name, question };
    const open = this.opens(askKey(ticket.key, name), wait);
    const { answer, clock, leave } = this.parts;
    const late = limit === undefined ? undefined : new AbortController();
    const shared = { answered: undefined, late, ask: this.asker(), stand: undefined };
    const turn: QuestionTurn = { wait, open, ticket, ...shared, from };
    const asked =
      answer === undefined
        ? this.leftOpen(turn)
        : new Promise((answered) => this.takeTurn(Object.assign(turn, { answered })));
    if (limit === undefined) return await asked;
    let stop: (() => void) | undefined;
    const overdue = new Promise((_, reject) => {
      const ms = 'at' in limit ? limit.at - clock.now() : limit.ms;
      stop = clock.setTimer(ms, () => {
        if (turn.stand !== undefined) leave(ticket, turn.stand);
        reject(new SkeinError('SKEIN_TIMEOUT', `${whatOf(wait)} did not come in time`, PASSING));
        late?.abort();
      });
    });
    return await Promise.race([asked, overdue]).finally(stop);
  }

  /** Another turn may end first, in code of another part. */
  private asker(): QuestionTurn['ask'] {
    return asPartNow((turn: QuestionTurn) => this.answerOf(turn));
  }

  private opens(key: string, wait: Wait): OpenQuestion {
    const open = waitingFor(key, wait, this.parts.clock.now());
    this.parts.taker()?.waitsFor(open, false);
    return open;
  }

  private takeTurn(turn: QuestionTurn): void {
    turn.goesOn = this.parts.waits(turn.ticket);
    this.turns.put(turn);
    this.nextTurn();
  }

  private nextTurn(): void {
    if (this.asking && this.parts.atOnce !== true) return;
    const turn = this.turns.take();
    if (turn === undefined) return;
    if (!this.asking) this.askedFrom = this.parts.clock.now();
    this.asked += 1;
    const answer = turn.ask(turn);
    if (turn.answered === undefined) this.parts.follow(turn.ticket, answer);
    else turn.answered(answer);
  }

  /** The questions to ask next. */
  private next(): readonly WaitingQuestion[] {
    return this.turns.waiting().flatMap((turn) => {
      const { question } = turn.wait;
      return question === undefined || isGone(turn) ? [] : [{ question, address: turn.open.key }];
    });
  }

  private async answerOf(turn: QuestionTurn): Promise<unknown> {
    try {
      return await this.answered(turn);
    } catch (error) {
      if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_QUESTION') throw error;
      return await this.leftOpen(turn, error);
    }
  }

  private async answered(turn: QuestionTurn): Promise<unknown> {
    const { open, ticket, answered, late } = turn;
    const { question } = turn.wait;
    const { answer, clock, thought } = this.parts;
    // The caller has not finished yet.
    await Promise.resolve();
    try {
      if (answer === undefined || question === undefined || isGone(turn)) return undefined;
      const signal = late === undefined ? ticket.signal : AbortSignal.any([ticket.signal, late.signal]);
      const { value, by } = answerIn(question, await answer(question, open.key, signal, () => this.next()));
      if (answered === undefined) ticket.answeredBy = by;
      turn.from?.(by);
      return value;
    } finally {
      // The time a person takes to answer also passes for everything that waits for it.
      this.asked -= 1;
      thought(this.asking ? 0 : clock.now() - this.askedFrom);
      turn.goesOn?.();
      if (answered === undefined) ticket.letGo();
      this.nextTurn();
    }
  }

  /** Nobody can answer: tells the asker when nothing else runs. `refusal`: the error of the function that was asked. */
  private async leftOpen(turn: QuestionTurn, refusal?: SkeinError): Promise<never> {
    const { wait, open, ticket } = turn;
    const { stand, taker } = this.parts;
    await new Promise<void>((alone, dropped) => stand(ticket, (turn.stand = { alone, dropped })));
    taker()?.unanswered(open);
    if (refusal === undefined) throw unanswered(wait, open.key);
    if (refusal.details !== undefined) throw refusal;
    throw new SkeinError(refusal.code, refusal.message, {
      ...toErrorData(refusal),
      ...detailsOf(wait.question, open.key),
    });
  }
}

/** Whether nobody needs the answer any more. */
function isGone({ ticket, late }: QuestionTurn): boolean {
  return ticket.isOver || late?.signal.aborted === true;
}

const PASSING = { retryable: true } as const;

function whatOf({ question, name }: Wait): string {
  return question === undefined ? `the event '${name}'` : `an answer to: ${question.text}`;
}

function unanswered(wait: Wait, address: string): SkeinError {
  return new SkeinError('SKEIN_QUESTION', `waits for ${whatOf(wait)}`, {
    hint: 'run it on a terminal, or give the answer from code',
    ...detailsOf(wait.question, address),
  });
}

function detailsOf(question: Question | undefined, key: string): { readonly details?: Json } {
  return question === undefined ? {} : { details: asRecorded({ key, question }) };
}
