import type { Clock } from '../../../base/clock.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { DoneRecord } from '../../../journal/record.js';
import type { OpenSession } from '../../../journal/session.js';
import { openQuestion } from '../../../events/question.js';
import { waitId, waitingFor } from '../open-question.js';
import type { Outcome, Taker, Wait } from '../../ports/durable.js';
import type { Deliveries } from './deliveries.js';
import { OpenWaits, pauseRecord } from './open-waits.js';
import type { RecordedOptions } from './recorded-options.js';
import type { RecordedOutcomes } from './recorded-outcomes.js';
import { RecordedTicket } from './recorded-ticket.js';
import type { StandingCount } from './standing.js';
import { isUnanswered, writeOutcome } from './write-outcome.js';

/** What questions of a run need of the rest of its back end. */
interface QuestionParts {
  readonly session: OpenSession;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly outcomes: RecordedOutcomes;
  readonly deliveries: Deliveries;
  readonly count: StandingCount;
  readonly owner: ConstructorParameters<typeof RecordedTicket>[1];
  readonly options: RecordedOptions;
  /** The interpreter, once it takes outcomes. */
  readonly taker: () => Taker | undefined;
  /** Gives an outcome its place and time. */
  readonly stamped: (ticket: RecordedTicket, outcome: Outcome) => Outcome;
}

/** Opens questions and events, new ones and those that were open when the last session ended, and records what is answered aside. */
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

  /** A question whose answer is recorded, but handed to `take` at once, not to the interpreter. It is dropped with `ticket`. */
  askAside(ticket: RecordedTicket, key: string, wait: Wait, take: (outcome: Outcome) => void): void {
    const { outcomes, count, journal, stamped, owner } = this.parts;
    const question = new RecordedTicket(key, owner, undefined);
    // The effect is performed again and again: a time that it counts anew each time makes no other question of it.
    question.id = waitId({ name: wait.name, ...(wait.question && { question: wait.question }) });
    const found = outcomes.find(question);
    if (found !== undefined) {
      this.tellReplayed(wait, found.record);
      take(outcomes.outcomeOf(found.record));
      return;
    }
    this.open(ticket, question, wait, (outcome) => {
      if (!isUnanswered(outcome)) {
        count.answered(key);
        writeOutcome(journal, question, stamped(question, outcome));
      }
      take(outcome);
    });
  }

  /** It was asked before, and the record has the answer. */
  tellReplayed(wait: Wait, { key, at }: DoneRecord): void {
    const { options, taker } = this.parts;
    if (wait.question === undefined) return;
    options.onReplayedAnswer?.(wait.question, key);
    taker()?.waitsFor(waitingFor(key, wait, at), true);
  }

  /** Waits for an answer or event; `holder` is the ticket with which it is dropped. */
  open(holder: RecordedTicket, ticket: RecordedTicket, wait: Wait, settle: (outcome: Outcome) => void): void {
    const { waits } = this;
    const { session, journal, clock, count, deliveries, taker } = this.parts;
    const { key, id = '' } = ticket;
    const known = session.ledger.pause(key);
    const again = known !== undefined && known.id === id;
    const at = clock.now();
    const due = again ? known.due : (wait.dueAt ?? (wait.expiresMs === undefined ? undefined : at + wait.expiresMs));
    const fresh = pauseRecord(at, { key, id, wait, due });
    // Of what may be done once it must show that it stands at a question, since it started: then it may be started again.
    const standsHere = holder.startedAt !== undefined && holder.options?.effect === 'once';
    if (!again || standsHere) journal.write(encodeRecord(again ? known : fresh));
    const told = openQuestion(again ? known : fresh);
    const open = {
      key,
      id,
      wait,
      due,
      settle: (outcome: Outcome): void => {
        if (isUnanswered(outcome)) taker()?.unanswered(told);
        settle(outcome);
      },
    };
    count.asked(key, id);
    const { undo } = holder;
    holder.undo = () => {
      undo?.();
      waits.close(key);
    };
    waits.open(open);
    taker()?.waitsFor(told, again);
    deliveries.wake();
  }
}
