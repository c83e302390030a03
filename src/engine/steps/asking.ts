import { SkeinError } from '../../base/errors.js';
import type { Question, StepIo } from '../ports/durable.js';

/** What a body leaves behind that must be stopped when the attempt is over. */
export interface Activity {
  stop(): void;
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
}

/**
 * Asks from inside of an effect of a step. The clocks of its attempt and of the steps around it stand still until there is an answer, or until
 * the attempt is over.
 *
 * @throws SkeinError `SKEIN_CANCELLED` when that is so already
 */
export async function askInside(step: Asker, signal: AbortSignal, ask: () => Promise<unknown>): Promise<unknown> {
  if (step.over || signal.aborted) throw new SkeinError('SKEIN_CANCELLED', 'the step was cancelled');
  const clock = { stop: step.stopClock() };
  step.hold(clock);
  try {
    return await ask();
  } finally {
    step.release(clock);
    clock.stop();
  }
}

/** What an effect of an executor gets: its questions stop the clocks, too. */
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

  ask(name: string, question: Question): Promise<unknown> {
    return askInside(this.step, this.signal, () => this.io.ask(name, question));
  }
}
