import type { RunOptionsOf } from './ports/durable.js';
import type { ErrorData } from '../base/errors.js';
import type { Census, OpenCensus } from '../events/census.js';
import type { RunTallies } from '../events/spending.js';
import type { Label } from '../guard/label.js';
import type { WorkMeter } from '../lang/work-meter.js';
import type { ChannelTable } from './graph/channel-table.js';
import type { CompiledPlan } from './graph/compile.js';
import type { Durable, Short } from './ports/durable.js';
import type { Again, ChannelWrite, Executors, FailedInside, NodeGuard } from './ports/executor.js';
import type { Phases } from './ports/supervision.js';
import type { Reporter } from './reporter.js';
import type { Reports } from './run-result.js';
import type { Influenced, RunLabels } from './state/run-labels.js';
import type { Version } from './state/version.js';

/**
 * What steps and scopes use of their run. The run owns the queues and the back end; a scope owns tokens and state of one
 * execution of a plan; a step owns the policies and the body of one execution of a node. Calls go down by this interface and up
 * by {@link ScopeOwner} and `StepOwner`; nobody reaches further.
 */
export interface RunServices extends WorkMeter {
  readonly runId: string;
  /** Trust labels of what the run holds. */
  readonly labels: RunLabels;
  readonly durable: Durable;
  readonly executors: Executors;
  /** What supervises steps; absent: nothing here does. */
  readonly phases: Phases | undefined;
  /** Options for runs that functions start; the engine does not look at them. `reserve`: that of the effect inside of which they run. */
  readonly runOptions: RunOptionsOf;
  readonly reporter: Reporter;
  /** Calls that were made here, and answers that came from a record in their place. */
  readonly tallies: RunTallies;
  /** What was asked for when it was started. */
  readonly options: Asked;
  /** Looks at the run after each step of its own plan: gives an error to end it there. */
  readonly check: ((step: StepToCheck) => ErrorData | undefined) | undefined;
  /** The check may give the state that it is told away as a whole. */
  readonly checksWholes: boolean;
  /** A step that does work succeeded or failed: how much was reused, how much ran. */
  leafEnded(succeeded: boolean): void;
  /** Puts work into the queue of the run. It is started in this order, leaf steps as slots are free (E5, E9). */
  enqueue(work: Work): void;
  /** A leaf step no longer uses its slot. */
  releaseSlot(): void;
  /** The run ends only after `paid` was called as often: a plan that was cut off is being closed. */
  owes(closing: Stoppable): void;
  paid(closing: Stoppable, census: Census, reports: Reports): void;
  /** Nothing runs in this scope any more: look at it once the queue is empty. */
  rest(scope: Restable): void;
  /** Starts a plan inside a step. */
  openScope(options: ScopeOptions): ScopeHandle;
  /** An executor was started or woken: let it come to rest before the next outcome is taken. */
  woken(): void;
  /** The run ends only after this has ended, also when it was cancelled: executors free what they hold. */
  hold(cleanup: Promise<void>): void;
}

/** What somebody asks of one run. */
export interface Asked {
  /** Decides about tools that steps call by themselves. */
  readonly guard?: (() => NodeGuard) | undefined;
  /** How many nodes may run one after another in each of its plans; replaces their own bounds. */
  readonly maxSteps?: number | undefined;
  /** Listeners get the state after each step. */
  readonly streamState?: boolean | undefined;
  /** What steps give in place of what they gave. */
  readonly edits?: StateEdits;
}

/** Values by channel, by the path of the step whose writes they stand for. */
export type StateEdits = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Something that the run starts. */
export interface Work {
  /** It uses a slot (a leaf step that really runs). */
  readonly leaf: boolean;
  /** The one behind it in a queue; belongs to the queue. */
  next: Work | undefined;
  start(): void;
  /** False when it must not be started any more. */
  isWanted(): boolean;
}

/** Something that ends when it is told to. */
export interface Stoppable {
  stop(): void;
}

/** Something that the run looks at when nothing is ready. */
export interface Restable {
  rested(): void;
}

/** How a scope is started. */
export interface ScopeOptions {
  readonly compiled: CompiledPlan;
  /** Prefix of the paths of its steps; empty or ending in a slash. */
  readonly prefix: string;
  /** Path of the step that it runs inside. */
  readonly parent: string;
  readonly inputs: Version;
  /** Label of what decided that it starts. */
  readonly influence: number;
  readonly owner: ScopeOwner;
  /** Number of the first visits of its nodes. Default 1. */
  readonly visit?: number;
  /** Channels in addition to those of the plan. Default: none. */
  readonly channels?: ChannelTable;
}

/** A running scope, as its owner sees it. */
export interface ScopeHandle {
  /** Stops everything in it, for this reason. It does not call its owner any more. */
  abort(reason?: string, decides?: number): void;
  /** What its final state holds; undefined when nobody wrote it. */
  read(channel: string): unknown;
  /** A step cleared it, and nobody wrote it again. */
  clears(channel: string): boolean;
  /** Digest of what its final state holds; empty when nobody wrote it. Only for back ends that record. */
  digest(channel: string): string;
  /** Its final state. */
  state(): Record<string, unknown>;
  /** What it gives by the `values` of its plan; undefined when that has none. */
  values(): Record<string, unknown> | undefined;
  /** Label of all that decided where it went on. */
  readonly control: number;
  /** What runs that functions of its running steps started have heard so far. Only for back ends that record. */
  heard(): Label | undefined;
  readonly census: OpenCensus;
  /** Nodes of the plan around at which steps in it said to go on; absent when none did. */
  readonly around: readonly string[] | undefined;
  /** Steps in it that did not simply succeed; absent when there are none. */
  readonly reports: Reports;
}

/** Who started a scope. It is told what had a say in how that ended, and in what is read of its state. */
export interface ScopeOwner extends Influenced {
  scopeEnded(scope: ScopeHandle, end: ScopeEnd): void;
  /** A question inside is open: stops the clocks around; gives what starts them again. */
  stopClock(): () => void;
  /** What the attempt around it was told by its supervisor. */
  readonly correction: string | undefined;
  /** Something inside calls what has `effect: once`. */
  callsOnce(): void;
  /** What the nearest `retry` around says of a call inside that failed. */
  again(failed: FailedInside): Again | undefined;
}

/** An end on purpose (`EndNode`). */
export interface PlanEnd {
  /** Address of the step that said so. */
  readonly path: string;
  /** Absent where the plan ends well. */
  readonly error?: ErrorData | undefined;
  /** How many plans around the one that it is told to end with it. */
  readonly out: number;
}

/** What is told of a step with which its plan ends: why, and what it writes all the same. */
export interface Leaving {
  readonly reason?: string | undefined;
  readonly writes?: readonly ChannelWrite[];
}

/** How a scope ended. `ended`: on purpose, and the plan around it ends with it. */
export type ScopeEnd =
  | { readonly type: 'done' }
  | ({ readonly type: 'ended' } & PlanEnd)
  | { readonly type: 'failed'; readonly error: ErrorData; readonly path: string }
  | { readonly type: 'out_of_budget'; readonly error: ErrorData; readonly path: string; readonly how: Short }
  | { readonly type: 'paused' };

/** What a check gets: a step of the run's own plan ended well, and its output is part of the state. */
export interface CheckedStep {
  readonly node: string;
  readonly path: string;
  /** The state after it, read-only; plain data where the check gives it away as a whole. */
  readonly state: Readonly<Record<string, unknown>>;
  /** How steps ended so far, this one among them. */
  readonly census: Census;
  /** Milliseconds since the run began, by its clock: the same on every replay. */
  readonly elapsedMs: number;
}

export type { StepReport } from '../events/census.js';

/** Looks at the run after each step; gives an error to end it there. A function of what it gets, without effects. */
export type StepCheck = (view: CheckedStep) => ErrorData | undefined;

/** What the run knows of a step for its {@link StepCheck}, in addition to its own. */
export type StepToCheck = Pick<CheckedStep, 'node' | 'path' | 'state' | 'census'>;

/** A warning about a run. */
export interface RunWarning {
  readonly code: string;
  readonly message: string;
}
