import type { ErrorData } from '../base/errors.js';

/** How a step ended (DESIGN.md section 7). */
export type StepOutcome = 'succeeded' | 'skipped' | 'failed' | 'timed_out' | 'cancelled' | 'paused' | 'out_of_budget';

/** How a run ended: `degraded` is finished, but some step failed and the definition allowed it. */
export type RunOutcome = 'succeeded' | 'degraded' | 'failed' | 'paused' | 'cancelled' | 'out_of_budget';

/** How a step ended, and why: the same wherever it is reported. */
export interface StepEnding {
  readonly outcome: StepOutcome;
  /** Why it was skipped or paused. */
  readonly reason?: string;
  readonly error?: ErrorData;
}

/** What is reported of a step that did not simply succeed, in the result of a run. */
export interface StepReport extends StepEnding {
  readonly path: string;
  readonly node: string;
}

interface AnyEnding {
  readonly outcome: StepOutcome;
  readonly reason?: string | undefined;
  readonly error?: ErrorData | undefined;
}

/**
 * The ending of a step alone, of what may say more.
 *
 * @example
 * endingOf({ ...event, outcome: 'skipped', reason: 'its condition does not hold' }); // { outcome: 'skipped', reason: 'its condition ...' }
 */
export function endingOf({ outcome, reason, error }: AnyEnding): StepEnding {
  return { outcome, ...(reason === undefined ? {} : { reason }), ...(error === undefined ? {} : { error }) };
}
