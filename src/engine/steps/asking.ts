import type { Limit } from '../../base/duration.js';
import { stepCancelled, type ErrorData } from '../../base/errors.js';
import { present } from '../../base/json.js';
import { waitingText } from '../../budget/lack-text.js';
import type { Lack } from '../../budget/ledger.js';
import type { BudgetWaiting, EventBody } from '../../events/event.js';
import type {
  AnswerSource,
  Held,
  Outcome,
  Parts,
  Question,
  Reserve,
  Reserving,
  StepIo,
  Ticket,
  Wait,
  Waiter,
} from '../ports/durable.js';
import { answerNote } from '../../events/question.js';
import type { Label } from '../../guard/label.js';
import type { LostCall } from '../../plan/probe.js';
import type { StepOptions } from '../ports/recording.js';
import type { RunServices } from '../services.js';

/** Something that a body started and that must stop when the attempt is over. */
export interface Activity {
  stop(): void;
  /** Label of runs that functions inside have started so far. */
  heard?(): Label | undefined;
}

export interface Asker {
  readonly over: boolean;
  /** Stops the clocks of this attempt and of all steps around it while a question is open. Returns a function that starts them again. */
  stopClock(): () => void;
  /** Registers something to stop when this attempt is over. */
  hold(activity: Activity): void;
  /** Unregisters something that ended on its own. */
  release(activity: Activity): void;
  emit(body: EventBody): void;
  /** The idempotency key of a call, from that of the attempt. */
  keyOfCall(key: string): string;
}

/**
 * Asks from inside an effect of a step. The clocks of its attempt and of the steps around it stop until there is an answer, or until the
 * attempt is over.
 *
 * @throws SkeinError `SKEIN_CANCELLED` if the attempt is already over
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

/** Stops the clocks of an attempt and of the steps around it until the returned function is called, or the attempt is over. */
export function standStill(step: Asker): () => void {
  const clock = { stop: step.stopClock() };
  step.hold(clock);
  return () => {
    step.release(clock);
    clock.stop();
  };
}

/** Reserves inside an effect of a step. The clocks stop while the reservation waits. Undefined if no budget applies. */
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

/** What records the runs inside an effect of a step. The clocks of the step stop while somebody finds out whether something in them was done. */
export function partsInside(step: Asker, { parts }: StepIo): Parts | undefined {
  return (
    parts && {
      ...parts,
      perform: (name, effect, options, waits) =>
        parts.perform(name, effect, options, (by) => {
          const goOn = [standStill(step), waits(by)];
          return () => goOn.forEach((goesOn) => goesOn());
        }),
    }
  );
}

/** What a `once` effect of an executor needs if it was lost: its probe gets the key that the call was made with. */
export function onceIn(
  step: Asker,
  { lost }: Pick<StepOptions, 'lost' | 'effect'>,
): Pick<StepOptions, 'lost' | 'stopsClock'> {
  const probe = lost?.probe;
  const known = probe && {
    ...lost,
    probe: (call: LostCall) => probe({ ...call, idempotencyKey: step.keyOfCall(call.idempotencyKey) }),
  };
  return { ...present({ lost: known ?? lost }), stopsClock: () => standStill(step) };
}

/** The services for an executor's effect: its questions, and waits for budget, also stop the clocks. */
export class AskingIo implements StepIo {
  constructor(
    private readonly step: Asker,
    private readonly io: StepIo,
  ) {}

  get idempotencyKey(): string {
    return this.step.keyOfCall(this.io.idempotencyKey);
  }

  get place(): string {
    return this.io.idempotencyKey;
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  get reserve(): Reserve | undefined {
    return reserveInside(this.step, this.io);
  }

  get parts(): Parts | undefined {
    return partsInside(this.step, this.io);
  }

  standStill(): () => void {
    return standStill(this.step);
  }

  ask(name: string, question: Question, limit?: Limit, from?: AnswerSource): Promise<unknown> {
    return askInside(this.step, this.signal, () => this.io.ask(name, question, limit, from));
  }
}

/** A step that asks a person about its result. */
interface Asking {
  readonly run: Pick<RunServices, 'durable' | 'reporter'>;
  await(ticket: Ticket, waiter: Waiter): void;
  hold(activity: Activity): void;
  stopClock(): () => void;
  emit(body: EventBody): void;
  pause(question: Question, reason: string): void;
  fail(error: ErrorData): void;
}

/** Asks a question with its own key beside the body: passes the answer to `done`; if nobody can answer, the step pauses. */
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
