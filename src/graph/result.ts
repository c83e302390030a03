import type { ErrorData } from '../base/errors.js';
import type { Census } from '../events/census.js';
import type { RunResult } from '../engine/run-result.js';
import type { Fork, RunOptions } from '../runtime/options.js';

/** Options of a graph run; `S` is its state. */
export interface GraphRunOptions<S extends object = Record<string, unknown>> extends Omit<
  RunOptions,
  'inputs' | 'fork'
> {
  /** Begins a new run that reuses the recorded results of another run that still count. */
  readonly fork?: Omit<Fork, 'set'> & {
    /**
     * Values of the state, by key. Each replaces what the last kept step wrote to its key, and the steps that depend on it run again. A key
     * that no step has written is an input.
     */
    readonly set?: Partial<S>;
  };
  /** The key whose value is the answer of this run. Default: the graph's. */
  readonly answerKey?: string;
  /** `false` does not keep the events of steps, for runs of very many steps; the result has only start and end. Default `true`. */
  readonly events?: boolean;
}

/** Event types of a graph; agents, tools and functions inside it may add others. */
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
 * An event of a graph run. Events inside a node, from an agent or a workflow, have that node's name as `source` and the id of its
 * `node_start` as `parentEventId`, at any depth. For events of the graph itself, both are null.
 */
export interface GraphEvent {
  /** One of {@link GraphEventType}, or a type that code inside a node chose. */
  readonly type: GraphEventType | (string & Record<never, never>);
  /** 32 hex digits, stable across replays. The `node_start` and `node_end` of one execution share it. */
  readonly eventId: string;
  readonly runId: string;
  /** Milliseconds since 1970, by the run's clock. */
  readonly at: number;
  readonly node?: string;
  /** Path of the step, such as `review/draft#2`; empty for the run itself. */
  readonly path: string;
  readonly source: string | null;
  readonly parentEventId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** True if the event comes from the record of a continued run and was already reported. */
  readonly replayed?: true;
}

/** How a run of a graph ended. */
export interface GraphResult<S extends object = Record<string, unknown>> extends Pick<
  RunResult,
  'runId' | 'outcome' | 'questions' | 'spent' | 'saved' | 'labels'
> {
  /** The final state, even of a failed run. */
  readonly state: Partial<S>;
  /** True if the outcome is `succeeded` or `degraded`. */
  readonly success: boolean;
  /** The reason if `success` is false. */
  readonly error: ErrorData | undefined;
  /** The {@link GraphEvent}s that a stream of this run would have yielded. */
  readonly events: readonly GraphEvent[];
  /** The value of the answer key as text; without such a key, the last node's output; else empty. */
  readonly answer: string;
  readonly answerKey: string | undefined;
  /** The same list as `events`. */
  readonly steps: readonly GraphEvent[];
  /** Number of node executions. */
  readonly iterations: number;
  /** Their names, in the order in which they ended. */
  readonly nodesRun: readonly string[];
  readonly metrics: GraphMetrics;
  /** Outcomes of all steps, including those of nested workflows. */
  readonly census: Census;
}

/** Options for using a graph as an agent. */
export interface AsAgentOptions {
  /** The input that receives the task. Default: the graph's `taskParam`. */
  readonly taskParam?: string;
  /** The key whose value is the answer. Default: the graph's. */
  readonly answerKey?: string;
}

/** Figures of a run. */
export interface GraphMetrics {
  readonly totalTimeMs: number;
  /** Steps that failed, timed out or ran out of budget, including failures that the graph tolerates. */
  readonly errorCount: number;
  /** Number of node executions. */
  readonly nodeCount: number;
}

/** An event of an agent. A {@link GraphEvent} is one. */
export interface AgentEvent {
  readonly type: string;
  readonly source?: string | null;
  readonly parentEventId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The result of an agent. */
export interface AgentResult {
  readonly answer: string;
  readonly success: boolean;
  /** The reason for a failure. */
  readonly error?: ErrorData | undefined;
  /** The agent's events. */
  readonly steps?: readonly AgentEvent[];
  /** Number of steps. */
  readonly iterations?: number;
  readonly metrics?: GraphMetrics | null;
}

/** Options of an agent call: for a Skein agent, those of a run. */
export type AgentRunOptions = Omit<RunOptions, 'inputs'>;

/**
 * Anything that accepts a task and returns an answer. If it succeeds, its stream of events ends with one of type `answer`, whose metadata
 * holds the `answer`.
 */
export interface AgentLike {
  /** Figures of the last run; null before the first. */
  readonly metrics?: GraphMetrics | null;
  run(task: string, options?: AgentRunOptions): Promise<AgentResult>;
  stream(task: string, options?: AgentRunOptions): AsyncIterable<AgentEvent>;
}
