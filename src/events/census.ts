import type { ErrorData } from '../base/errors.js';

/** How a step ended (DESIGN.md section 7). */
export type StepOutcome = 'succeeded' | 'skipped' | 'failed' | 'timed_out' | 'cancelled' | 'paused' | 'out_of_budget';

/** How a run ended. `degraded`: the run finished, but a step failed and the definition allowed it. */
export type RunOutcome = 'succeeded' | 'degraded' | 'failed' | 'paused' | 'cancelled' | 'out_of_budget';

/** The outcome of a step and its reason, in the form that all reports share. */
export interface StepEnding {
  readonly outcome: StepOutcome;
  /** Why the step was skipped or paused. */
  readonly reason?: string;
  readonly error?: ErrorData;
}

/** A report on a step that did not simply succeed, in the result of a run. */
export interface StepReport extends StepEnding {
  readonly path: string;
  readonly node: string;
}

interface AnyEnding {
  readonly outcome: StepOutcome;
  readonly reason?: string | undefined;
  readonly error?: ErrorData | undefined;
}

/** Picks the ending of a step from an object with more fields. */
export function endingOf({ outcome, reason, error }: AnyEnding): StepEnding {
  if (outcome === 'succeeded' && reason === undefined && error === undefined) return SUCCEEDED;
  return { outcome, ...(reason === undefined ? {} : { reason }), ...(error === undefined ? {} : { error }) };
}

/** Shared by all steps that succeeded, of which there may be many. */
const SUCCEEDED: StepEnding = Object.freeze({ outcome: 'succeeded' });

/** Counts of step outcomes of a run, each step once, steps that contain others too. Steps that never started because the run ended first are `notRun`. */
export interface Census {
  readonly succeeded: number;
  /** Steps that failed or timed out where the definition allowed it, for themselves or for a step around them. They are counted only here. */
  readonly degraded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly timed_out: number;
  readonly cancelled: number;
  readonly paused: number;
  readonly out_of_budget: number;
  /** Nodes of the plan without any step. */
  readonly notRun: number;
  /** Loops and jumps back that reached their limit where the definition allowed it. Absent if none did. */
  readonly limited?: number;
}

export type OpenCensus = { -readonly [K in keyof Census]: Census[K] };

export function emptyCensus(): OpenCensus {
  return {
    succeeded: 0,
    degraded: 0,
    failed: 0,
    skipped: 0,
    timed_out: 0,
    cancelled: 0,
    paused: 0,
    out_of_budget: 0,
    notRun: 0,
  };
}

const WORDS: readonly [keyof Census, string][] = [
  ['succeeded', 'succeeded'],
  ['degraded', 'failed as allowed'],
  ['limited', 'limit reached'],
  ['failed', 'failed'],
  ['timed_out', 'timed out'],
  ['skipped', 'skipped'],
  ['cancelled', 'cancelled'],
  ['paused', 'paused'],
  ['out_of_budget', 'out of budget'],
  ['notRun', 'not run'],
];

/**
 * A census as a phrase: `7 succeeded, 1 skipped`. Zero counts are left out, and each step is counted once.
 *
 * @example
 * formatCensus({ ...emptyCensus(), succeeded: 7, skipped: 1 }); // '7 succeeded, 1 skipped'
 */
export function formatCensus(census: Census): string {
  const parts = WORDS.flatMap(([key, word]) => ((census[key] ?? 0) > 0 ? [`${census[key]} ${word}`] : []));
  return parts.length === 0 ? 'nothing ran' : parts.join(', ');
}

export function addCensus(into: OpenCensus, more: Census): void {
  // One by one: looking up names takes longer, and every round of a loop is added.
  into.succeeded += more.succeeded;
  into.degraded += more.degraded;
  into.failed += more.failed;
  into.skipped += more.skipped;
  into.timed_out += more.timed_out;
  into.cancelled += more.cancelled;
  into.paused += more.paused;
  into.out_of_budget += more.out_of_budget;
  into.notRun += more.notRun;
  if (more.limited !== undefined) into.limited = (into.limited ?? 0) + more.limited;
}

/** Whether a step failed, or a loop reached its limit, and the definition allowed it. */
export function isDegraded({ degraded, limited = 0 }: Census): boolean {
  return degraded > 0 || limited > 0;
}

/** Counts an allowed failure as degraded instead of under its own outcome, and with it the failures of the steps inside. */
export function countAllowed(census: OpenCensus, outcome: StepOutcome, inside: Census | undefined): void {
  census[outcome] -= 1;
  census.degraded += 1;
  if (inside !== undefined) addCensus(census, allowedIn(inside));
}

/** What is added to a census that has counted these failures, once they are allowed. */
export function allowedIn({ failed, timed_out: timedOut }: Census): Census {
  return { ...emptyCensus(), degraded: failed + timedOut, failed: -failed, timed_out: -timedOut };
}
