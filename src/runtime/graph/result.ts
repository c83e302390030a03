import type { ErrorData } from '../../base/errors.js';
import type { Census } from '../../events/census.js';
import type { RunOutcome } from '../../events/outcome.js';
import type { RunOptions } from '../options.js';

/** How a graph is run. */
export type GraphRunOptions = Omit<RunOptions, 'inputs'>;

/** Something that happens in a run of a graph. */
export interface GraphEvent {
  readonly type: string;
  readonly eventId: string;
  readonly runId: string;
  readonly at: number;
  readonly node?: string;
  readonly path: string;
  readonly source: string | null;
  readonly parentEventId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Figures of a run. */
export interface GraphMetrics {
  readonly totalTimeMs: number;
  readonly errorCount: number;
  readonly nodeCount: number;
}

/** How a run of a graph ended. */
export interface GraphResult<S extends object = Record<string, unknown>> {
  readonly runId: string;
  readonly state: Partial<S>;
  readonly success: boolean;
  readonly outcome: RunOutcome;
  readonly error: ErrorData | undefined;
  readonly events: readonly GraphEvent[];
  readonly answer: string;
  readonly answerKey: string | undefined;
  readonly steps: readonly GraphEvent[];
  readonly iterations: number;
  readonly nodesRun: readonly string[];
  readonly metrics: GraphMetrics;
  readonly census: Census;
}

/** How a graph is seen as an agent. */
export interface AsAgentOptions {
  readonly taskParam?: string;
  readonly answerKey?: string;
}

/** Anything that takes a task and gives an answer. */
export interface AgentLike {
  run(task: string): Promise<unknown>;
  stream(task: string): AsyncIterable<unknown>;
}
