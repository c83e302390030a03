import type { Clock } from '../../../base/clock.js';
import { fromErrorData, stepCancelled } from '../../../base/errors.js';
import type { Limit } from '../../../base/duration.js';
import type { Journal } from '../../../journal/journal.js';
import { askKey, parseKey } from '../../../base/address.js';
import type { AnswerSource, Effect, Outcome, Question, StepOptions } from '../../ports/durable.js';
import { partUnderWay } from '../open-question.js';
import type { Deliveries } from './deliveries.js';
import { waitOf } from './open-waits.js';
import type { RecordedOutcomes } from './recorded-outcomes.js';
import type { RecordedQuestions } from './recorded-questions.js';
import { RecordedTicket } from './recorded-ticket.js';
import { writeOutcome } from './write-outcome.js';

/** The services of the back end that work inside effects needs. */
interface InsideParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly outcomes: RecordedOutcomes;
  readonly deliveries: Deliveries;
  readonly questions: RecordedQuestions;
  readonly owner: ConstructorParameters<typeof RecordedTicket>[1];
  readonly starts: (ticket: RecordedTicket) => void;
  readonly stops: (ticket: RecordedTicket) => void;
  /** Assigns an outcome its position and time. */
  readonly stamped: (ticket: RecordedTicket, outcome: Outcome) => Outcome;
  /** Calls back when everything written so far is committed. */
  readonly committed: (then: () => void) => void;
}

/** Work inside an effect: questions to people, and effects of its own. Their outcomes are recorded, and returned directly to the effect. */
export class RecordedInside {
  constructor(private readonly parts: InsideParts) {}

  /** @throws SkeinError the error of the answer */
  async ask(
    ticket: RecordedTicket,
    name: string,
    question: Question,
    limit?: Limit,
    from?: AnswerSource,
  ): Promise<unknown> {
    const { questions, deliveries, starts, stops } = this.parts;
    // A part that waits for an answer is not in progress.
    const parts = partUnderWay.getStore()?.of === ticket ? 1 : 0;
    ticket.effects -= parts;
    if (ticket.effects === 0) stops(ticket);
    ticket.questions += 1;
    // Continue together with the answer, not some turns later: in between, the run would seem idle, and waiters for that would be notified.
    const goesOn = (): void => {
      ticket.questions -= 1;
      ticket.effects += parts;
      if ((ticket.questions === 0 || parts > 0) && !ticket.dropped) starts(ticket);
      // The clock of the attempt continues from the current time, not from the last delivery.
      deliveries.takeTime();
    };
    const outcome = await new Promise<Outcome>((resolve) => {
      try {
        questions.askAside(ticket, askKey(ticket.key, name), waitOf(name, question, limit), (answer, by) => {
          goesOn();
          from?.(by);
          resolve(answer);
        });
      } catch (error) {
        goesOn();
        throw error;
      }
    });
    if (outcome.ok) return outcome.value;
    throw fromErrorData(outcome.error);
  }

  /**
   * Runs an effect inside another one, unless it is recorded under this key. Settles when its outcome is committed. A failure is recorded
   * only with the surrounding effect, so that it is tried again.
   */
  async run(ticket: RecordedTicket, key: string, effect: Effect, options: StepOptions): Promise<unknown> {
    const { journal, clock, outcomes, owner, stamped, committed } = this.parts;
    const inner = new RecordedTicket(key, owner, options);
    inner.id = options.identity?.digest();
    const found = outcomes.find(inner);
    const before = found === undefined ? undefined : outcomes.outcomeOf(found.record);
    if (found !== undefined && before?.ok === true) {
      options.identity?.reused?.(found.record);
      return before.value;
    }
    this.begins(ticket);
    try {
      inner.startedAt = clock.now();
      const value: unknown = await partUnderWay.run({ of: ticket, name: parseKey(key).name ?? '', asked: 0 }, () =>
        effect.perform(ticket),
      );
      if (ticket.dropped) throw stepCancelled();
      const told = writeOutcome(journal, inner, stamped(inner, { ok: true, value }));
      if (!told.ok) throw fromErrorData(told.error);
      await new Promise<void>(committed);
      return told.value;
    } finally {
      this.ends(ticket);
    }
  }

  private begins(ticket: RecordedTicket): void {
    ticket.effects += 1;
    if (!ticket.dropped) this.parts.starts(ticket);
  }

  /** With only open questions left, the surrounding effect no longer counts as running (R4). */
  private ends(ticket: RecordedTicket): void {
    ticket.effects -= 1;
    if (ticket.effects > 0 || ticket.questions === 0 || ticket.dropped) return;
    this.parts.stops(ticket);
    this.parts.deliveries.wake();
  }
}
