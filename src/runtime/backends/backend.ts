import type { ModelRegistry } from '../../agent/models/registry.js';
import type { CompiledPlan } from '../../engine/graph/compile.js';
import type { RunHandle, RunResult, StartOptions } from '../../engine/run.js';
import type { Changes } from '../changes.js';
import type { GoingOn, RecordedRun } from '../going-on.js';
import type { RunOptions } from '../options.js';
import type { Turn } from '../threads/turn.js';

/** Where runs are carried out, and what stays of them: in memory, with a journal in a store. */
export interface Backend {
  /**
   * Opens a run: it resumes what the options name, or begins a run. What can be given at once is not a promise, so that a run in memory starts
   * in the same turn of the event loop.
   *
   * @throws SkeinError `SKEIN_USAGE`, `SKEIN_INPUT`, and what the back end can't do; a promise rejects with it
   */
  open(definition: BackendDefinition, options: RunOptions): OpenedRun | Promise<OpenedRun>;
}

/** What is to be run, and what is known of it already. */
export interface BackendDefinition {
  readonly runId: string;
  readonly compiled: CompiledPlan;
  readonly models: ModelRegistry;
  /** What was read of the run that is resumed. Absent: it is read. */
  readonly recorded?: RecordedRun;
  /** What has changed since, when whoever started it has told about that. */
  readonly told?: Changes;
  /** The turn that it is, where that was opened. Absent: it is opened. */
  readonly turn?: Turn | undefined;
  /** Aborted when the run is not wanted any more. Made when first asked for: only what is waited for needs it. */
  readonly signal: () => AbortSignal;
  /** Starts another run that this one needs first: the turn before it. */
  readonly launch: (
    one: Pick<BackendDefinition, 'compiled' | 'models' | 'turn'> & { readonly options: RunOptions },
  ) => RunHandle;
}

/** A run that was opened, and has not started. */
export interface OpenedRun {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly settings: Pick<RunOptions, 'memory' | 'maxSteps'>;
  readonly formerModels?: GoingOn['formerModels'];
  /** Called once, right before it starts. */
  begin(owner: RunOwner): BegunRun;
}

/** Whoever runs a run, as its back end sees it. */
export interface RunOwner {
  /** Somebody outside wants the run to be cancelled, or has taken it. */
  cancel(reason: string): void;
}

/** What the interpreter is started with. */
export interface BegunRun {
  readonly start: Pick<
    StartOptions,
    'runId' | 'inputs' | 'first' | 'last' | 'edits' | 'warnings' | 'announced' | 'log'
  > &
    Required<Pick<StartOptions, 'durable'>>;
  /** The end of the run, when nothing of it runs any more: gives the result that counts, which is a failure when the end can't be kept. */
  readonly close: (result: RunResult) => RunResult;
}
