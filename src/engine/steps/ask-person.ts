import type { ErrorData } from '../../base/errors.js';
import { answerNote } from '../../events/question.js';
import type { EventBody } from '../../events/event.js';
import type { Outcome, Question, Ticket, Wait, Waiter } from '../ports/durable.js';
import type { RunServices } from '../services.js';
import type { Activity } from './asking.js';

/** A step that asks a person about what it gives. */
interface Asking {
  readonly run: Pick<RunServices, 'durable' | 'reporter'>;
  await(ticket: Ticket, waiter: Waiter): void;
  hold(activity: Activity): void;
  stopClock(): () => void;
  emit(body: EventBody): void;
  pause(question: Question, reason: string): void;
  fail(error: ErrorData): void;
}

/** A question that is a step of its own beside the body: what is answered is given to `done`, and where nobody can answer, the step pauses. */
export function askPerson(
  step: Asking,
  key: string,
  wait: Wait & { readonly question: Question },
  done: (answer: unknown) => void,
): void {
  const take = (outcome: Outcome): void => {
    if (outcome.ok) {
      if (step.run.reporter.followed) step.emit({ type: 'step.note', note: answerNote(outcome.value) });
      done(outcome.value);
    } else if (outcome.error.code === 'SKEIN_QUESTION') step.pause(wait.question, outcome.error.message);
    else step.fail(outcome.error);
  };
  step.hold({ stop: step.stopClock() });
  const ticket = step.run.durable.signal(key, wait);
  if (ticket.outcome !== undefined) take(ticket.outcome);
  else step.await(ticket, { settled: (_ticket: Ticket, outcome: Outcome) => take(outcome) });
}
