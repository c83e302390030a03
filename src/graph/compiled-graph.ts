import type { Problem } from '../base/problem.js';
import type { Bindings, Plan } from '../plan/plan.js';
import type { AgentLike, AsAgentOptions, GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from './result.js';
import { graphAsAgent } from './as-agent.js';
import { runGraph, runGraphOrThrow, streamGraph } from './on-demand.js';
import type { GraphInputs, RunnableGraph, RunningSettings } from './running.js';

/** The implementation of `CompiledGraph`. */
export class CheckedGraph implements RunnableGraph {
  /** Figures of the last run that ended. */
  metrics: GraphMetrics | null = null;

  constructor(
    readonly plan: Plan,
    readonly bindings: Bindings,
    readonly problems: readonly Problem[],
    readonly answerKey: string | undefined,
    readonly settings: RunningSettings,
  ) {}

  async run(inputs?: GraphInputs, options?: GraphRunOptions): Promise<GraphResult> {
    const result = await runGraph(this, inputs, options);
    this.metrics = result.metrics;
    return result;
  }

  runOrThrow(inputs?: GraphInputs, options?: GraphRunOptions): Promise<Record<string, unknown>> {
    return runGraphOrThrow(this, inputs, options);
  }

  async *stream(inputs?: GraphInputs, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult> {
    const result = yield* streamGraph(this, inputs, options);
    this.metrics = result.metrics;
    return result;
  }

  asAgent(options?: AsAgentOptions): AgentLike {
    return graphAsAgent(this, options);
  }
}
