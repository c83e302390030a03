import type { RunOutcome, StepOutcome } from '../events/outcome.js';

/** How a step stands, in the words of the audit files and of the JSON result. */
export type StepStatus = 'running' | 'completed' | 'failed' | 'skipped' | 'cancelled' | 'paused' | 'not_run';

/** How a run stands, in the words of the audit files. */
export type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'paused';

/** The status of a step with an outcome. What ran out of time or budget has failed; the outcome says why. */
export function stepStatus(outcome: StepOutcome): StepStatus {
  switch (outcome) {
    case 'succeeded':
      return 'completed';
    case 'timed_out':
    case 'out_of_budget':
    case 'failed':
      return 'failed';
    case 'skipped':
    case 'cancelled':
    case 'paused':
      return outcome;
  }
}

/** The status of a run with an outcome. A degraded run is completed. */
export function runStatus(outcome: RunOutcome): RunStatus {
  switch (outcome) {
    case 'succeeded':
    case 'degraded':
      return 'completed';
    case 'out_of_budget':
    case 'failed':
      return 'failed';
    case 'cancelled':
    case 'paused':
      return outcome;
  }
}
