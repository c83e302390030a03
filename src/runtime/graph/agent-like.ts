import type { ErrorData } from '../../base/errors.js';
import type { RunOptions } from '../options.js';
import type { GraphMetrics } from './metrics.js';

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
