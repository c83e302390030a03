/** How a step ended (DESIGN.md section 7). */
export type StepOutcome = 'succeeded' | 'skipped' | 'failed' | 'timed_out' | 'cancelled' | 'paused' | 'out_of_budget';

/** How a run ended: `degraded` is finished, but some step failed and the definition allowed it. */
export type RunOutcome = 'succeeded' | 'degraded' | 'failed' | 'paused' | 'cancelled' | 'out_of_budget';
