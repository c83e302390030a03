import type { Problem } from '../base/problem.js';
import type { Bindings, Plan } from '../plan/plan.js';
import type { AgentLike, AsAgentOptions, GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from './result.js';
import { graphAsAgent } from './as-agent.js';
import { runGraph, runGraphOrThrow, streamMeasured } from './on-demand.js';
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

  /** Failures inside nodes, and invalid inputs, are in the result. */
  async run(inputs?: GraphInputs, options?: GraphRunOptions): Promise<GraphResult> {
    const result = await runGraph(this, inputs, options);
    this.metrics = result.metrics;
    return result;
  }

  runOrThrow(inputs?: GraphInputs, options?: GraphRunOptions): Promise<Record<string, unknown>> {
    return runGraphOrThrow(this, inputs, options);
  }

  /** Runs once the first event is requested. */
  stream(inputs?: GraphInputs, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult> {
    return streamMeasured({ graph: () => this, inputs: () => inputs, options });
  }

  asAgent(options?: AsAgentOptions): AgentLike {
    return graphAsAgent(this, options);
  }
}
