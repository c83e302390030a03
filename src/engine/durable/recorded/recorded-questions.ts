import { isGuardQuestion } from '../../../base/address.js';
import type { Clock } from '../../../base/clock.js';
import { toErrorData } from '../../../base/errors.js';
import { digestText } from '../../../base/hash.js';
import { encodeRecord } from '../../../journal/codec.js';
import { foundNothing } from '../../../journal/leaving.js';
import type { Ledger, Recorded } from '../../../journal/ledger.js';
import type { Journal } from '../../../journal/journal.js';
import type { DoneRecord } from '../../../journal/record.js';
import type { OpenSession } from '../../../journal/session.js';
import { openQuestion } from '../../../events/question.js';
import { findingsOf, waitId, waitingFor } from '../open-question.js';
import type { AnswerQuestion } from '../memory-questions.js';
import type { Outcome, Question, Taker, Wait } from '../../ports/durable.js';
import type { Deliveries } from './deliveries.js';
import { OpenWaits, pauseRecord } from './open-waits.js';
import type { BudgetOptions } from './recorded-budget.js';
import { isOfParent, type RecordedOutcomes } from './recorded-outcomes.js';
import { RecordedTicket } from './recorded-ticket.js';
import type { StandingCount } from './standing.js';
import { isUnanswered, writeOutcome } from './write-outcome.js';

export interface RecordedOptions {
  readonly clock?: Clock;
  /** Answers questions in this process. If absent, or rejected with `SKEIN_QUESTION`, questions stay open. */
  readonly answer?: AnswerQuestion | undefined;
  /** Called for each question with a recorded answer, before anything is asked (R3). */
  readonly onReplayedAnswer?: (question: Question, address: string) => void;
  /** What the run may spend. Absent if nothing limits it. */
  readonly budget?: BudgetOptions | undefined;
  /** Called when cancelling the run was requested. */
  readonly onCancel?: () => void;
}

/** The services that questions of a run need from its back end. */
interface QuestionParts {
  readonly session: OpenSession;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly outcomes: RecordedOutcomes;
  readonly deliveries: Deliveries;
  readonly count: StandingCount;
  readonly owner: ConstructorParameters<typeof RecordedTicket>[1];
  readonly options: RecordedOptions;
  readonly taker: () => Taker | undefined;
  /** Assigns an outcome its position and time. */
  readonly stamped: (ticket: RecordedTicket, outcome: Outcome) => Outcome;
}

/** Opens questions and events, new ones and those left open by the last session, and records answers to questions inside effects. */
export class RecordedQuestions {
  readonly waits: OpenWaits;

  constructor(private readonly parts: QuestionParts) {
    const { session, clock, options, deliveries, journal } = parts;
    this.waits = new OpenWaits({
      runId: session.lease.runId,
      store: session.store,
      clock,
      answer: options.answer,
      changed: () => deliveries.wake(),
      broken: (error) => journal.fail(error),
    });
  }

  /** Looks for answers, and for what `look` looks for. True if nothing has come: from now on, only the next session takes what comes. */
  foundNothing(look: () => boolean): boolean {
    const { session, clock, journal } = this.parts;
    try {
      return foundNothing(session.store, session.lease, clock, () => {
        this.waits.takeAnswers();
        return look();
      });
    } catch (error) {
      journal.fail(toErrorData(error));
      return false;
    }
  }

  /** Asks a question whose answer is recorded, but passed directly to `take` instead of the interpreter. It is dropped with `ticket`. */
  askAside(
    ticket: RecordedTicket,
    key: string,
    wait: Wait,
    take: (outcome: Outcome, by: string | undefined) => void,
  ): void {
    const { outcomes, count, journal, stamped } = this.parts;
    const question = this.questionAt(key, wait);
    const found = this.answered(question, wait);
    if (found !== undefined) {
      this.tellReplayed(wait, found.record);
      take(outcomes.outcomeOf(found.record), question.answeredBy);
      return;
    }
    this.open(ticket, question, wait, (outcome) => {
      if (!isUnanswered(outcome)) {
        count.answered(key);
        writeOutcome(journal, question, stamped(question, outcome));
      }
      take(outcome, question.answeredBy);
    });
  }

  private questionAt(key: string, { name, question }: Wait): RecordedTicket {
    const ticket = new RecordedTicket(key, this.parts.owner, undefined);
    // The effect may be performed repeatedly: a time limit that it computes anew must not change the question.
    ticket.id = waitId({ name, ...(question && { question }) });
    return ticket;
  }

  /** Whether somebody has answered a question of an effect, even if the run has not taken the answer yet. */
  hasAnswer(key: string, wait: Wait): boolean {
    const { lease, store } = this.parts.session;
    const question = this.questionAt(key, wait);
    if (this.answered(question, wait) !== undefined) return true;
    return store.answers(lease.runId).some((answer) => answer.key === key && answer.id === question.id);
  }

  /** The recorded outcome of a question or an event. An answer that does not match is discarded: the question is asked again. */
  answered(ticket: RecordedTicket, { question }: Wait): Recorded | undefined {
    const { outcomes } = this.parts;
    const found = outcomes.find(ticket);
    if (found === undefined || question === undefined) return found;
    if (isGuardQuestion(ticket.key) && isOfParent(found)) return undefined;
    const outcome = outcomes.outcomeOf(found.record);
    const isFit = outcome.ok ? findingsOf(question, outcome.value).length === 0 : outcome.error.code !== 'SKEIN_ANSWER';
    if (!isFit) return undefined;
    ticket.answeredBy = found.record.by;
    return found;
  }

  /** Reports a question that was asked before and has a recorded answer. */
  tellReplayed(wait: Wait, { key, at }: DoneRecord): void {
    const { options, taker } = this.parts;
    if (wait.question === undefined) return;
    options.onReplayedAnswer?.(wait.question, key);
    taker()?.waitsFor(waitingFor(key, wait, at), true);
  }

  /** Waits for an answer or event; it is dropped together with `holder`. */
  open(holder: RecordedTicket, ticket: RecordedTicket, wait: Wait, settle: (outcome: Outcome) => void): void {
    const { waits } = this;
    const { session, journal, clock, count, deliveries, taker } = this.parts;
    const { key } = ticket;
    const id = askedId(ticket, wait, session.ledger);
    const known = session.ledger.pause(key);
    const again = known !== undefined && known.id === id;
    const at = clock.now();
    const due = again ? known.due : (wait.dueAt ?? (wait.expiresMs === undefined ? undefined : at + wait.expiresMs));
    const fresh = pauseRecord(at, { key, id, wait, due });
    // A `once` effect records that it waits at a question since its start: it may then be started again.
    const standsHere = holder.startedAt !== undefined && holder.options?.effect === 'once';
    let told = openQuestion(again ? known : fresh);
    // Invalid questions fail here, in the asker, and not when they are written.
    const isNews = !again || standsHere || session.ledger.isClosed(key);
    const line = isNews ? encodeRecord(again ? known : fresh) : undefined;
    const asked = (): void => {
      if (line !== undefined) journal.write(line);
      count.asked(key, id);
      taker()?.waitsFor(told, again);
    };
    // The rest of the record may end the asker: the question is then never asked (R3).
    const isEarly = !again && deliveries.replaying;
    const open = {
      key,
      id,
      wait,
      due,
      asked: isEarly ? asked : undefined,
      askedAnew: (next: string): void => {
        const anew = pauseRecord(clock.now(), { key, id: next, wait, due });
        journal.write(encodeRecord(anew));
        count.asked(key, next);
        told = openQuestion(anew);
        taker()?.waitsFor(told, true);
      },
      settle: (outcome: Outcome, by?: string): void => {
        ticket.answeredBy = by;
        if (isUnanswered(outcome)) taker()?.unanswered(told);
        settle(outcome);
      },
    };
    if (!isEarly) asked();
    const { undo } = holder;
    holder.undo = () => {
      undo?.();
      waits.close(key);
    };
    waits.open(open);
    deliveries.wake();
  }
}

/**
 * The digest of a question or an event. After a failure that counts no longer, such as an expiry, it is another one: the stored answer
 * that led to the failure is not taken again.
 */
function askedId({ key, id = '' }: RecordedTicket, { hasDefault }: Wait, ledger: Ledger): string {
  const failures = hasDefault === true ? 0 : ledger.failures(key);
  return failures === 0 ? id : digestText(`${id} ${failures}`);
}
