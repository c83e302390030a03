import { SkeinError } from '../base/errors.js';
import type { Step } from './step.js';

/**
 * Asks from inside of an effect of a step. The clocks of its attempt and of the steps around it stand still until there is an answer, or until
 * the attempt is over.
 *
 * @throws SkeinError `SKEIN_CANCELLED` when that is so already
 */
export async function askInside(step: Step, signal: AbortSignal, ask: () => Promise<unknown>): Promise<unknown> {
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
