import type { CountsCalls } from '../events/spending.js';
import type { RunOptionsOf } from './ports/durable.js';
import type { ErrorData } from '../base/errors.js';
import { toErrorData } from '../base/errors.js';
import type { Label } from '../guard/label.js';
import type { Bindings } from '../plan/plan.js';
import type { LastState } from './state/carried-state.js';
import type { FirstState } from './state/inputs.js';
import type { Durable } from './ports/durable.js';
import type { Executors, NodeGuard } from './ports/executor.js';
import type { Phases } from './ports/supervision.js';
import type { Hearers } from './reporter.js';
import type { RunHandle } from './run-result.js';
import type { Asked, CheckedStep, RunServices, RunWarning, StepCheck } from './services.js';

/** How a run is carried out. */
export interface StartOptions extends Asked, Hearers {
  /** Input values by name. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Names of inputs that come from somewhere the user has no say in. Default: none. */
  readonly untrusted?: readonly string[] | undefined;
  /** What had a say in that it starts: that of the step that started it. Default: only the user. */
  readonly influence?: Label | undefined;
  /** What it begins with, in place of `inputs`: a state that another run ended with, and inputs over it (J12). */
  readonly first?: FirstState;
  /** Told what had a say in its result, right before the run ends. */
  readonly heard?: ((label: Label) => void) | undefined;
  /** Told of the final state, right before the run ends. */
  readonly last?: (state: LastState) => void;
  /** Functions of code nodes; not for a plan that is compiled already. */
  readonly bindings?: Bindings;
  /** Who runs agents and other kinds that the engine does not know. */
  readonly executors?: Executors;
  /** What supervises steps. */
  readonly phases?: Phases | undefined;
  /** The back end. Default: in memory, without a record. */
  readonly durable?: Durable;
  readonly runId?: string;
  /** Cancels the run when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Leaf steps at once; replaces the plan's own bound. */
  readonly concurrency?: number | undefined;
  /** Called after each step of the plan (not of those inside of steps), before anything goes on from there. */
  readonly check?: StepCheck | undefined;
  /** What is reported of the run before anything of it starts. */
  readonly warnings?: readonly RunWarning[];
  /** Steps of which it was reported before that they run again. Default: none. */
  readonly announced?: (path: string) => boolean;
  /** Gives the options for runs that functions start. Default: none. */
  readonly runOptions?: RunOptionsOf;
  /** Decides about tools that steps call by themselves. Default: nothing does. */
  readonly guard?: (() => NodeGuard) | undefined;
  /** Counts the calls of the run in addition: those of one that a function started. */
  readonly counts?: CountsCalls | undefined;
  /** Called when no step runs any more, before the run ends. What it throws fails a run that had not failed yet. Undefined: it is done. */
  readonly atEnd?: () => Promise<void> | undefined;
}

export const NO_OPTIONS: StartOptions = {};

/** The check of a run, with its time: none has passed yet. */
export function checkOf({ check }: StartOptions, durable: Durable): RunServices['check'] {
  if (check === undefined) return undefined;
  const beganAt = durable.settledAt();
  return (step) => checked(check, { ...step, elapsedMs: durable.settledAt() - beganAt });
}

/** A check that throws ends the run too. */
function checked(check: StepCheck, view: CheckedStep): ErrorData | undefined {
  try {
    return check(view);
  } catch (error) {
    return toErrorData(error);
  }
}

/** A run is cancelled when the signal is aborted. */
export function cancelBy(signal: AbortSignal, run: RunHandle): void {
  const reason = (): string => (signal.reason instanceof Error ? signal.reason.message : 'the run was cancelled');
  const onAbort = (): void => run.cancel(reason());
  if (signal.aborted) onAbort();
  else {
    signal.addEventListener('abort', onAbort, { once: true });
    void run.result.then(() => signal.removeEventListener('abort', onAbort));
  }
}
