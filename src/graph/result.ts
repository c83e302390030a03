import type { ErrorData } from '../base/errors.js';
import type { Census } from '../events/census.js';
import type { RunResult } from '../engine/run-result.js';
import type { RunOptions } from '../runtime/options.js';

/** How a graph is run. */
export interface GraphRunOptions extends Omit<RunOptions, 'inputs'> {
  /** The key whose value is the answer of this run. Default: that of the graph. */
  readonly answerKey?: string;
  /** `false`: what happens in steps is not kept, for runs of very many steps; the result has the start and the end. Default `true`. */
  readonly events?: boolean;
}

/** What a graph tells; agents, tools and functions inside of it may tell more. */
export type GraphEventType =
  | 'workflow_start'
  | 'workflow_resume'
  | 'node_start'
  | 'node_end'
  | 'state'
  | 'node_skip'
  | 'node_retry'
  | 'node_cancel'
  | 'node_pause'
  | 'error'
  | 'contract_violation'
  | 'warning'
  | 'prompt'
  | 'model_start'
  | 'model_queued'
  | 'model_admitted'
  | 'budget_waiting'
  | 'budget_admitted'
  | 'model_delta'
  | 'model_retry'
  | 'model_fallback'
  | 'model_end'
  | 'model_error'
  | 'tool_start'
  | 'tool_end'
  | 'guard_decided'
  | 'guard_label'
  | 'guard_endorsed'
  | 'question'
  | 'question_answer'
  | 'memory'
  | 'map_items'
  | 'loop_round'
  | 'loop_repeated'
  | 'loop_oscillating'
  | 'loop_capped'
  | 'loop_rounds'
  | 'supervision_commit'
  | 'supervision_post'
  | 'supervision_reconcile'
  | 'supervision_verdict'
  | 'supervision_corrected'
  | 'supervision_accepted'
  | 'guard_verdict'
  | 'approval_requested'
  | 'approval_decided'
  | 'custom'
  | 'answer'
  | 'workflow_end';

/**
 * Something that happens in a run of a graph. What happens inside of a node, by an agent or a workflow, has the name of that node as its
 * `source` and the id of its `node_start` as `parentEventId`, at any depth; what the graph itself tells has null there.
 */
export interface GraphEvent {
  /** One of {@link GraphEventType}, or what somebody inside of a node calls it. */
  readonly type: GraphEventType | (string & Record<never, never>);
  /** 32 hex digits, the same when the run is gone through again. `node_start` and `node_end` of one execution share it. */
  readonly eventId: string;
  readonly runId: string;
  /** Milliseconds since 1970, by the clock of the run. */
  readonly at: number;
  readonly node?: string;
  /** Address of the step, `review/draft#2`; empty for the run itself. */
  readonly path: string;
  readonly source: string | null;
  readonly parentEventId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The run goes on from its record: this was reported before, when it happened. */
  readonly replayed?: true;
}

/** How a run of a graph ended. */
export interface GraphResult<S extends object = Record<string, unknown>> extends Pick<
  RunResult,
  'runId' | 'outcome' | 'questions' | 'spent' | 'saved'
> {
  /** The final state; also of a run that failed. */
  readonly state: Partial<S>;
  /** It came to its end: the outcome is `succeeded` or `degraded`. */
  readonly success: boolean;
  /** Why it did not. */
  readonly error: ErrorData | undefined;
  /** What {@link GraphEvent}s a stream of this run would have given. */
  readonly events: readonly GraphEvent[];
  /** The value of the answer's key as text; without such a key what the last node gave; else empty. */
  readonly answer: string;
  readonly answerKey: string | undefined;
  /** The same as `events`. */
  readonly steps: readonly GraphEvent[];
  /** How many nodes ran, each as often as it did. */
  readonly iterations: number;
  /** Their names, in the order in which they ended. */
  readonly nodesRun: readonly string[];
  readonly metrics: GraphMetrics;
  /** How all steps ended, with those of workflows inside of nodes. */
  readonly census: Census;
}

/** How a graph is seen as an agent. */
export interface AsAgentOptions {
  /** The input that takes the task. Default: the `taskParam` of the graph. */
  readonly taskParam?: string;
  /** The key whose value is the answer. Default: that of the graph. */
  readonly answerKey?: string;
}

/** Figures of a run. */
export interface GraphMetrics {
  readonly totalTimeMs: number;
  /** Steps that failed, took too long or ran out of budget, also where the graph allowed it. */
  readonly errorCount: number;
  /** How many nodes ran, each as often as it did. */
  readonly nodeCount: number;
}

/** What an agent tells while it works. A {@link GraphEvent} is one. */
export interface AgentEvent {
  readonly type: string;
  readonly source?: string | null;
  readonly parentEventId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What an agent gives back. */
export interface AgentResult {
  readonly answer: string;
  readonly success: boolean;
  /** Why it failed. */
  readonly error?: ErrorData | undefined;
  /** What it told. */
  readonly steps?: readonly AgentEvent[];
  /** How many steps it took. */
  readonly iterations?: number;
  readonly metrics?: GraphMetrics | null;
}

/** How an agent is called: for an agent of Skein, like any run. */
export type AgentRunOptions = Omit<RunOptions, 'inputs'>;

/**
 * Anything that takes a task and gives an answer. The events of a stream end with one of type `answer`, whose metadata has the `answer`, if
 * it succeeds.
 */
export interface AgentLike {
  /** Figures of the last run; null before one. */
  readonly metrics?: GraphMetrics | null;
  run(task: string, options?: AgentRunOptions): Promise<AgentResult>;
  stream(task: string, options?: AgentRunOptions): AsyncIterable<AgentEvent>;
}
