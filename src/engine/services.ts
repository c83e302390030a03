import type { RunOptionsOf, Durable, Short } from './ports/durable.js';
import type { ErrorData } from '../base/errors.js';
import type { Census, OpenCensus } from '../events/census.js';
import type { RunTallies } from '../events/spending.js';
import type { Label } from '../guard/label.js';
import type { WorkMeter } from '../lang/work-meter.js';
import type { ChannelTable } from './graph/channel-table.js';
import type { CompiledPlan } from './graph/compile.js';
import type { Again, ChannelWrite, Executors, FailedInside, NodeGuard } from './ports/executor.js';
import type { Phases } from './ports/supervision.js';
import type { Reporter } from './reporter.js';
import type { Reports } from './run-result.js';
import type { Influenced, RunLabels } from './state/run-labels.js';
import type { Version } from './state/version.js';

/**
 * The run as seen by steps and scopes. The run owns the queues and the back end; a scope owns tokens and state of one execution of a plan;
 * a step owns the policies and the body of one execution of a node. Calls go down through this interface and up through {@link ScopeOwner}
 * and `StepOwner`, never further.
 */
export interface RunServices extends WorkMeter {
  readonly runId: string;
  readonly labels: RunLabels;
  readonly durable: Durable;
  readonly executors: Executors;
  /** Supervises steps. Absent if nothing does. */
  readonly phases: Phases | undefined;
  /** Options for runs that functions start, opaque to the engine. `reserve`: of the effect that they run inside. */
  readonly runOptions: RunOptionsOf;
  readonly reporter: Reporter;
  /** Counts calls made here, and recorded answers used instead of calls. */
  readonly tallies: RunTallies;
  readonly options: Asked;
  /** Checks the run after each step of its own plan; returns an error to end the run there. */
  readonly check: ((step: StepToCheck) => ErrorData | undefined) | undefined;
  /** True if the check may pass on the whole state that it receives. */
  readonly checksWholes: boolean;
  /** A step that does work succeeded or failed: counts it as reused or run. */
  leafEnded(succeeded: boolean): void;
  /** Puts work into the queue of the run. Work starts in this order, leaf steps as slots are free (E5, E9). */
  enqueue(work: Work): void;
  /** A leaf step frees its slot. */
  releaseSlot(): void;
  /** A cut-off plan is being closed: the run ends only after an equal number of calls of `paid`. */
  owes(closing: Stoppable): void;
  paid(closing: Stoppable, census: Census, reports: Reports): void;
  /** Nothing runs in this scope any more: checks it once the queue is empty. */
  rest(scope: Restable): void;
  /** A step succeeded that could have failed the run: whoever started the run may continue after its failure. */
  passed(label: number): void;
  /** Label of all such steps so far. */
  readonly lasting: number;
  /** True once somebody cancelled the run. */
  readonly cancelled: boolean;
  openScope(options: ScopeOptions): ScopeHandle;
  /** An executor was started or woken: it must come to rest before the next outcome is taken. */
  woken(): void;
  /** Delays the end of the run until this promise settles, also if the run is cancelled: executors free what they hold. */
  hold(cleanup: Promise<void>): void;
}

/** The options of one run. */
export interface Asked {
  /** Decides about tools that steps call directly. */
  readonly guard?: (() => NodeGuard) | undefined;
  /** Maximum number of nodes that run one after another in each of its plans; replaces the plans' own bounds. */
  readonly maxSteps?: number | undefined;
  /** True if listeners receive the state after each step. */
  readonly streamState?: boolean | undefined;
  /** Writes that replace those of steps. */
  readonly edits?: StateEdits;
  /** Names of inputs, and channels of edits, from sources that the user does not control. Default: none. */
  readonly untrusted?: readonly string[] | undefined;
  /** Names of private ones. Default: none. */
  readonly private?: readonly string[] | undefined;
}

/** Replacement values by channel, by the path of the step whose writes they replace. */
export type StateEdits = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Work {
  /** True if the work uses a slot (a leaf step that really runs). */
  readonly leaf: boolean;
  /** The next work in a queue; belongs to the queue. */
  next: Work | undefined;
  start(): void;
  /** False if the work must not start any more. */
  isWanted(): boolean;
}

export interface Stoppable {
  stop(): void;
}

/** Something that the run checks when nothing is ready. */
export interface Restable {
  rested(): void;
}

export interface ScopeOptions {
  readonly compiled: CompiledPlan;
  /** Prefix of the paths of its steps; empty or ending in a slash. */
  readonly prefix: string;
  readonly parent: string;
  readonly inputs: Version;
  /** Label of what decided that the scope starts. */
  readonly influence: number;
  readonly owner: ScopeOwner;
  /** Visit number of the first visits of its nodes. Default 1. */
  readonly visit?: number;
  /** Channels in addition to those of the plan. Default: none. */
  readonly channels?: ChannelTable;
}

/** A running scope, as seen by its owner. */
export interface ScopeHandle {
  /** Stops everything in the scope for this reason. The scope no longer calls its owner. */
  abort(reason?: string, decides?: number): void;
  /** The final value of a channel; undefined if no step wrote it. */
  read(channel: string): unknown;
  /** True if a step cleared the channel and no step wrote it again. */
  clears(channel: string): boolean;
  /** Digest of the final value; empty if no step wrote it. Only for back ends that record. */
  digest(channel: string): string;
  state(): Record<string, unknown>;
  /** The outputs by the `values` of its plan; undefined if the plan has none. */
  values(): Record<string, unknown> | undefined;
  /** Label of everything that decided its routes. */
  readonly control: number;
  /** Label of runs that functions of its running steps have started so far. Only for back ends that record. */
  heard(): Label | undefined;
  readonly census: OpenCensus;
  /** Nodes of the surrounding plan that steps in this scope chose as the next ones; absent if none did. */
  readonly around: readonly string[] | undefined;
  /** Steps in the scope that did not simply succeed; absent if there are none. */
  readonly reports: Reports;
}

/** The owner of a scope. It receives what influenced the end of the scope, and what is read of its state. */
export interface ScopeOwner extends Influenced {
  scopeEnded(scope: ScopeHandle, end: ScopeEnd): void;
  /** A question inside is open: stops the surrounding clocks. Returns a function that starts them again. */
  stopClock(): () => void;
  /** The supervisor's correction of the surrounding attempt. */
  readonly correction: string | undefined;
  /** Something inside calls a tool or function with `effect: once`. */
  callsOnce(): void;
  /** An agent inside wrote a file after something untrusted. */
  wrote(path: string): void;
  /** The decision of the nearest surrounding `retry` policy on a failed call inside. */
  again(failed: FailedInside): Again | undefined;
}

export interface PlanEnd {
  /** Address of the step that ends the plan. */
  readonly path: string;
  /** Absent if the plan ends well. */
  readonly error?: ErrorData | undefined;
  /** Number of surrounding plans that end with it. */
  readonly out: number;
}

/** How a step leaves the plan that it ends: the reason, and its remaining writes. */
export interface Leaving {
  readonly reason?: string | undefined;
  readonly writes?: readonly ChannelWrite[];
}

/** How a scope ended. `ended`: on purpose, together with the surrounding plan. */
export type ScopeEnd =
  | { readonly type: 'done' }
  | ({ readonly type: 'ended' } & PlanEnd)
  | { readonly type: 'failed'; readonly error: ErrorData; readonly path: string }
  | { readonly type: 'out_of_budget'; readonly error: ErrorData; readonly path: string; readonly how: Short }
  | { readonly type: 'paused' };

/** What a check receives: a step of the run's own plan ended well, and its output is part of the state. */
export interface CheckedStep {
  readonly node: string;
  readonly path: string;
  /** The state after the step, read-only; plain data if the check passes it on as a whole. */
  readonly state: Readonly<Record<string, unknown>>;
  /** How steps ended so far, including this one. */
  readonly census: Census;
  /** Milliseconds since the run began, by its clock. The same on every replay. */
  readonly elapsedMs: number;
}

export type { StepReport } from '../events/census.js';

/** Checks the run after each step; returns an error to end it there. A function of its argument, without side effects. */
export type StepCheck = (view: CheckedStep) => ErrorData | undefined;

/** The facts about a step for its {@link StepCheck} that differ from step to step. */
export type StepToCheck = Pick<CheckedStep, 'node' | 'path' | 'state' | 'census'>;

export interface RunWarning {
  readonly code: string;
  readonly message: string;
}
