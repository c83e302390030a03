/**
 * Workflows in TypeScript: the typed state graph, and functions whose parameters name what they need.
 *
 * @example
 * import { graph } from 'skein/graph';
 *
 * const flow = graph<{ name: string }>().node('greet', ({ name }) => `Hello ${name}`).setEntry('greet');
 */
export { graph } from './runtime/graph/graph.js';
export type { CompiledGraph, Graph, Update } from './runtime/graph/types.js';
export type { FunctionNodeOptions, SpecNodeOptions, UpdateNodeOptions } from './runtime/graph/types.js';
export type { GraphSettings, StateSchema } from './runtime/graph/options.js';
export type { Invariant, InvariantPolicy, InvariantView } from './runtime/graph/invariants.js';
export type { GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from './runtime/graph/result.js';
export type { AgentLike, AsAgentOptions } from './runtime/graph/result.js';
export { goto } from './notations/graph/goto.js';
export type { Goto } from './notations/graph/goto.js';
export { reducers } from './notations/graph/reducers.js';
export type { ReducerInput } from './notations/graph/reducers.js';
export type { BuiltNode, NodeSpec } from './notations/graph/node-spec.js';
export type { DryRun, EdgeView, GraphNode, RouteView, StateKey } from './notations/graph/views.js';
export type { TaskStep } from './plan/builder-input.js';
export { END } from './plan/plan.js';
