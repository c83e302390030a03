import type { CountsCalls } from '../events/spending.js';
import type { RunOptionsOf, Durable } from './ports/durable.js';
import { isLate } from '../base/at-once.js';
import { toErrorData, type ErrorData } from '../base/errors.js';
import { whenAborted } from '../base/aborts.js';
import type { Label } from '../guard/label.js';
import type { Bindings } from '../plan/plan.js';
import type { RunState } from './state/inputs.js';
import type { Executors, NodeGuard } from './ports/executor.js';
import type { Phases } from './ports/supervision.js';
import type { Hearers } from './reporter.js';
import type { RunHandle } from './run-result.js';
import type { Asked, CheckedStep, RunServices, RunWarning, StepCheck } from './services.js';

/** The options of a run. */
export interface StartOptions extends Asked, Hearers {
  /** Input values by name. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Label of what started the run: that of the starting step. Default: only the user. */
  readonly influence?: Label | undefined;
  /** The initial state instead of `inputs`: the final state of another run, overlaid with inputs (J12). */
  readonly first?: RunState;
  /** Receives the label of the result, right before the run ends. */
  readonly heard?: ((label: Label) => void) | undefined;
  /** Receives a file that a run inside, which is answered from the record, wrote after something untrusted. */
  readonly wrote?: ((path: string) => void) | undefined;
  /** Receives the final state, right before the run ends. */
  readonly last?: (state: RunState) => void;
  /** Functions of code nodes; not for a compiled plan. */
  readonly bindings?: Bindings;
  /** Executors of agents and other kinds that the engine does not know. */
  readonly executors?: Executors;
  /** Supervises steps. */
  readonly phases?: Phases | undefined;
  /** The back end. Default: in memory, without a record. */
  readonly durable?: Durable;
  readonly runId?: string;
  /** Cancels the run when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of leaf steps at once; replaces the plan's own bound. */
  readonly concurrency?: number | undefined;
  /** Called after each step of the plan (not of steps inside steps), before anything continues from there. */
  readonly check?: StepCheck | undefined;
  /** Warnings to report before anything of the run starts. */
  readonly warnings?: readonly RunWarning[];
  /** Whether a rerun of a step was reported before. Default: no. */
  readonly announced?: (path: string) => boolean;
  /** Returns the options for runs that functions start. Default: none. */
  readonly runOptions?: RunOptionsOf;
  /** Decides about tools that steps call directly. Default: no decision. */
  readonly guard?: (() => NodeGuard) | undefined;
  /** An additional counter of the run's calls, for a run that a function started. */
  readonly counts?: CountsCalls | undefined;
  /** Counts calls that are answered from the record of the surrounding run. */
  readonly saves?: CountsCalls | undefined;
  /** Called when no step runs any more, before the run ends. An error fails a run that had not failed yet. Undefined if it is done. */
  readonly atEnd?: () => Promise<void> | undefined;
}

export const NO_OPTIONS: StartOptions = {};

/** Returns the check of a run, with the elapsed time starting at zero. */
export function checkOf({ check }: StartOptions, durable: Durable): RunServices['check'] {
  if (check === undefined) return undefined;
  const beganAt = durable.settledAt();
  return (step) => checked(check, { ...step, elapsedMs: durable.settledAt() - beganAt });
}

const LATE_CHECK: ErrorData = {
  code: 'SKEIN_USAGE',
  message: 'the check of the run returned a promise',
  hint: 'a check answers at once: do what takes time in a node',
};

/** A check that throws also ends the run. */
function checked(check: StepCheck, view: CheckedStep): ErrorData | undefined {
  try {
    const error = check(view);
    return isLate(error) ? LATE_CHECK : error;
  } catch (error) {
    return toErrorData(error);
  }
}

export function cancelBy(signal: AbortSignal, run: RunHandle): void {
  const reason = (): string => (signal.reason instanceof Error ? signal.reason.message : 'the run was cancelled');
  const release = whenAborted(signal, () => run.cancel(reason()));
  void run.result.then(release);
}
