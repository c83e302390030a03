import type { Census } from '../../events/census.js';

/** Figures of a run. */
export interface GraphMetrics {
  readonly totalTimeMs: number;
  /** Steps that failed or took too long, also where the graph allowed it. */
  readonly errorCount: number;
  /** How many nodes ran, each as often as it did. */
  readonly nodeCount: number;
}

/** How many steps failed so far. */
export function errorsIn({ degraded, failed, timed_out: timedOut }: Census): number {
  return degraded + failed + timedOut;
}
