import { SkeinError, type ErrorData } from '../../base/errors.js';
import { questionIn } from '../durable/open-question.js';
import type { Question, Short } from '../ports/durable.js';
import type { StepContext } from '../ports/executor.js';
import type { Phases } from '../ports/supervision.js';
import type { Work } from '../services.js';
import { runInside, type StepAround } from './inside.js';

interface Judged extends StepAround, Pick<Work, 'isWanted'> {
  /** Makes the step use a slot from here on. */
  takeSlot(): void;
  releaseSlot(): void;
  pause(question: Question, reason: string): void;
  runOut(error: ErrorData, how: Short): void;
  failForGood(error: ErrorData): void;
}

/**
 * Runs a phase in a slot: a leaf step has one, any other waits for one. An error of the phase fails the step for good; a question that
 * nobody can answer pauses it.
 *
 * @throws SkeinError `SKEIN_NO_EXECUTOR`
 */
export function consult<T>(
  step: Judged,
  phase: (phases: Phases, context: StepContext) => Promise<T>,
  done: (given: T) => void,
): void {
  const { run, compiled } = step;
  const { phases } = run;
  if (phases === undefined) {
    throw new SkeinError('SKEIN_NO_EXECUTOR', `nothing here can supervise '${compiled.id}'`, {
      hint: 'run it through the functions of skein, which know supervision, or pass phases',
    });
  }
  const start = (): void =>
    runInside(
      step,
      (context) => phase(phases, context),
      (ended) => {
        if (!compiled.leaf) step.releaseSlot();
        if (ended.ok) done(ended.value);
        else if (ended.short !== undefined) step.runOut(ended.error, ended.short);
        else if (ended.error.code === 'SKEIN_QUESTION') step.pause(questionIn(ended.error), ended.error.message);
        else step.failForGood(ended.error);
      },
    );
  if (compiled.leaf) start();
  else run.enqueue(new SlotWanted(step, start));
}

/** Waits for a slot of the run. */
class SlotWanted implements Work {
  readonly leaf = true;
  next: Work | undefined = undefined;

  constructor(
    private readonly step: Judged,
    private readonly go: () => void,
  ) {}

  isWanted(): boolean {
    return this.step.isWanted();
  }

  start(): void {
    this.step.takeSlot();
    this.go();
  }
}
