import { streamOf } from '../base/event-stream.js';
import { asGiven } from '../base/json.js';
import type { GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from './result.js';
import type * as Running from './running.js';
import type { GraphInputs, RunnableGraph, Streamed } from './running.js';

/**
 * What runs graphs is most of Skein's code, and none of it is needed to declare, check or draw one: it is loaded when the first graph runs.
 */
let running: typeof Running | undefined;
let loading: Promise<typeof Running> | undefined;

/** What a run was called with. One that waits for the code keeps copies, as a run that starts at once does: the caller may change its objects. */
interface Call {
  readonly inputs: GraphInputs;
  readonly options: GraphRunOptions | undefined;
}

/** One promise for all: runs start in the order in which they were asked for, and several imports end in any order. */
function loaded(): Promise<typeof Running> {
  return (loading ??= import('./running.js').then((code) => (running ??= code)));
}

function taken(inputs: GraphInputs, options: GraphRunOptions | undefined): Call {
  if (running !== undefined) return { inputs, options };
  return { ...asGiven({ inputs }), options: options && asGiven(options) };
}

export async function runGraph(
  graph: RunnableGraph,
  given: GraphInputs,
  options?: GraphRunOptions,
): Promise<GraphResult> {
  const call = taken(given, options);
  const { runGraph: run } = running ?? (await loaded());
  return await run(graph, call.inputs, call.options);
}

export async function runGraphOrThrow(
  graph: RunnableGraph,
  given: GraphInputs,
  options?: GraphRunOptions,
): Promise<Record<string, unknown>> {
  const call = taken(given, options);
  const { runGraphOrThrow: run } = running ?? (await loaded());
  return await run(graph, call.inputs, call.options);
}

/** Runs a graph and yields its events as they happen. The run starts when the first event is requested; leaving the loop cancels it. */
export function streamGraph<G extends RunnableGraph, R>(streamed: Streamed<G, R>): AsyncGenerator<GraphEvent, R> {
  return streamOf(() => {
    if (running !== undefined) return running.eventsOf(streamed);
    const graph = streamed.graph();
    const { inputs, options } = taken(streamed.inputs(), streamed.options);
    const call = { ended: streamed.ended, graph: () => graph, inputs: () => inputs, options };
    return loaded().then(({ eventsOf }) => eventsOf(call));
  });
}

/** A stream whose result also updates the figures of the graph. */
export function streamMeasured<G extends RunnableGraph & { metrics: GraphMetrics | null }>(
  streamed: Omit<Streamed<G, GraphResult>, 'ended'>,
): AsyncGenerator<GraphEvent, GraphResult> {
  return streamGraph({
    ...streamed,
    ended: (result, graph) => {
      graph.metrics = result.metrics;
      return result;
    },
  });
}
