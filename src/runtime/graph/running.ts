import { SkeinError } from '../../base/errors.js';
import type { Bindings, Plan } from '../../plan/plan.js';
import type { AgentLike, AsAgentOptions, GraphEvent, GraphResult, GraphRunOptions } from './result.js';
import type { RunningSettings } from './settings.js';

/** A graph that was checked, as it is run. */
export interface RunnableGraph {
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly answerKey: string | undefined;
  readonly settings: RunningSettings;
}

/** Input values by name. */
export type GraphInputs = Readonly<Record<string, unknown>> | undefined;

/** Runs a graph. */
export function runGraph(
  _graph: RunnableGraph,
  _inputs: GraphInputs,
  _options: GraphRunOptions | undefined,
): Promise<GraphResult> {
  return Promise.reject(new SkeinError('SKEIN_INTERNAL', 'not built yet'));
}

/** Runs a graph and gives its state. */
export function runGraphOrThrow(
  _graph: RunnableGraph,
  _inputs: GraphInputs,
  _options: GraphRunOptions | undefined,
): Promise<Record<string, unknown>> {
  return Promise.reject(new SkeinError('SKEIN_INTERNAL', 'not built yet'));
}

/** Runs a graph and gives its events. */
export async function* streamGraph(
  graph: RunnableGraph,
  inputs: GraphInputs,
  options: GraphRunOptions | undefined,
): AsyncGenerator<GraphEvent, GraphResult> {
  const result = await runGraph(graph, inputs, options);
  yield* result.events;
  return result;
}

/** A graph as an agent. */
export function graphAsAgent(_graph: RunnableGraph, _options: AsAgentOptions | undefined): AgentLike {
  throw new SkeinError('SKEIN_INTERNAL', 'not built yet');
}
