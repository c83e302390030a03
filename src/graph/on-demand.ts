import { asGiven } from '../base/json.js';
import type { GraphEvent, GraphResult, GraphRunOptions } from './result.js';
import type * as Running from './running.js';
import type { GraphInputs, RunnableGraph } from './running.js';

/**
 * What runs graphs is most of Skein's code, and none of it is needed to declare, check or draw one: it is loaded when the first graph runs.
 */
let running: typeof Running | undefined;

/** What a run was called with. One that waits for the code keeps copies, as a run that starts at once does: the caller may change its objects. */
interface Call {
  readonly inputs: GraphInputs;
  readonly options: GraphRunOptions | undefined;
}

async function loaded(): Promise<typeof Running> {
  return (running ??= await import('./running.js'));
}

function taken(inputs: GraphInputs, options: GraphRunOptions | undefined): Call {
  if (running !== undefined) return { inputs, options };
  return { ...asGiven({ inputs }, ['inputs']), options: options && { ...options } };
}

/** See {@link Running.runGraph}. */
export async function runGraph(
  graph: RunnableGraph,
  given: GraphInputs,
  options?: GraphRunOptions,
): Promise<GraphResult> {
  const call = taken(given, options);
  const { runGraph: run } = running ?? (await loaded());
  return await run(graph, call.inputs, call.options);
}

/** See {@link Running.runGraphOrThrow}. */
export async function runGraphOrThrow(
  graph: RunnableGraph,
  given: GraphInputs,
  options?: GraphRunOptions,
): Promise<Record<string, unknown>> {
  const call = taken(given, options);
  const { runGraphOrThrow: run } = running ?? (await loaded());
  return await run(graph, call.inputs, call.options);
}

/** See {@link Running.streamGraph}. */
export async function* streamGraph(
  graph: RunnableGraph,
  given: GraphInputs,
  options?: GraphRunOptions,
): AsyncGenerator<GraphEvent, GraphResult> {
  const call = taken(given, options);
  const { streamGraph: stream } = running ?? (await loaded());
  return yield* stream(graph, call.inputs, call.options);
}
