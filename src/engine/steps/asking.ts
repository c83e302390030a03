import type { Limit } from '../../base/duration.js';
import { stepCancelled } from '../../base/errors.js';
import { waitingText } from '../../budget/lack-text.js';
import type { Lack } from '../../budget/ledger.js';
import type { BudgetWaiting, EventBody } from '../../events/event.js';
import type { Held, Outcome, Question, Reserve, Reserving, StepIo, Ticket, Wait, Waiter } from '../ports/durable.js';
import type { ErrorData } from '../../base/errors.js';
import { answerNote } from '../../events/question.js';
import type { Label } from '../../guard/label.js';
import type { RunServices } from '../services.js';

/** What a body leaves behind that must be stopped when the attempt is over. */
export interface Activity {
  stop(): void;
  /** What runs that functions inside of it started have heard so far. */
  heard?(): Label | undefined;
}

/** A step, as what asks inside of it sees it. */
export interface Asker {
  readonly over: boolean;
  /** Stops the clocks of this attempt and of all steps around it, while a question is open. Gives what starts them again. */
  stopClock(): () => void;
  /** Registers something that is stopped when this attempt is over. */
  hold(activity: Activity): void;
  /** It ended by itself. */
  release(activity: Activity): void;
  /** Tells listeners something of it. */
  emit(body: EventBody): void;
}

/**
 * Asks from inside of an effect of a step. The clocks of its attempt and of the steps around it stand still until there is an answer, or until
 * the attempt is over.
 *
 * @throws SkeinError `SKEIN_CANCELLED` when that is so already
 */
export async function askInside(step: Asker, signal: AbortSignal, ask: () => Promise<unknown>): Promise<unknown> {
  if (step.over || signal.aborted) throw stepCancelled();
  const goOn = standStill(step);
  try {
    return await ask();
  } finally {
    goOn();
  }
}

/** The clocks of an attempt and of the steps around it stand still until the function that this gives is called, or the attempt is over. */
export function standStill(step: Asker): () => void {
  const clock = { stop: step.stopClock() };
  step.hold(clock);
  return () => {
    step.release(clock);
    clock.stop();
  };
}

/** Reserves inside of an effect of a step: the clocks stand still while it waits in line. Undefined where no budget holds. */
export function reserveInside(step: Asker, { reserve }: StepIo): Reserve | undefined {
  if (reserve === undefined) return undefined;
  const inside = (wanted: Reserving): Promise<Held> =>
    reserve({
      ...wanted,
      waits(lack) {
        if (lack !== undefined) step.emit({ type: 'step.note', note: { kind: 'budget.waiting', ...shownLack(lack) } });
        const over = wanted.waits?.(lack);
        const goOn = standStill(step);
        return () => {
          goOn();
          over?.();
          if (lack !== undefined && !step.over) step.emit({ type: 'step.note', note: { kind: 'budget.admitted' } });
        };
      },
    });
  return Object.assign(inside, { strict: reserve.strict });
}

function shownLack(lack: Lack): Omit<BudgetWaiting, 'kind'> {
  const { name, measure, spent, reserved, limit, wanted } = lack;
  return { limit: name, measure, spent, reserved, of: limit, wanted, message: waitingText(lack) };
}

/** What an effect of an executor gets: its questions, and waits for budget, stop the clocks, too. */
export class AskingIo implements StepIo {
  constructor(
    private readonly step: Asker,
    private readonly io: StepIo,
  ) {}

  get idempotencyKey(): string {
    return this.io.idempotencyKey;
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  get reserve(): Reserve | undefined {
    return reserveInside(this.step, this.io);
  }

  standStill(): () => void {
    return standStill(this.step);
  }

  ask(name: string, question: Question, limit?: Limit): Promise<unknown> {
    return askInside(this.step, this.signal, () => this.io.ask(name, question, limit));
  }
}

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
