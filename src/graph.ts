/**
 * Workflows in TypeScript: the typed state graph, and functions whose parameters name what they need.
 *
 * @example
 * import { graph } from 'skein/graph';
 * const flow = graph<{ name: string }>().node('greet', ({ name }) => `Hello ${name}`).setEntry('greet');
 */
export { graph } from './graph/graph.js';
export type { CompiledGraph, FunctionNodeOptions, Graph, ItemOptions, SpecNodeOptions } from './graph/types.js';
export type { Update, UpdateNodeOptions } from './graph/types.js';
export type { GraphSettings, StateSchema } from './graph/options.js';
export type { SuperviseInput, SuperviseOptions } from './notations/graph/supervising.js';
export type { Invariant, InvariantPolicy, InvariantView } from './runtime/invariants.js';
export type { GraphEvent, GraphEventType, GraphMetrics, GraphResult, GraphRunOptions } from './graph/result.js';
export type { AgentEvent, AgentLike, AgentResult, AgentRunOptions, AsAgentOptions } from './graph/result.js';
export { agentNode, type AgentNodeOptions, type ChoiceInput } from './notations/graph/nodes/agent-node.js';
export type { AnyAgent } from './notations/graph/nodes/call-agent.js';
export { tool, type ToolDefinition, type ToolStep } from './notations/graph/nodes/tool.js';
export { eventNode, sleepNode, type EventNodeOptions, type SleepInput } from './notations/graph/nodes/waiting-nodes.js';
export { endNode, setNode, type EndNodeOptions } from './notations/graph/nodes/text-nodes.js';
export { runNode, type CommandOutput, type RunNodeOptions } from './notations/graph/nodes/run-node.js';
export { toolNode } from './notations/graph/nodes/tool-node.js';
export { loopNode, type LoopNodeOptions } from './notations/graph/nodes/loop-node.js';
export { workflowNode, type InnerWorkflow, type WorkflowNodeOptions } from './notations/graph/nodes/workflow-node.js';
export { agent, type AgentOptions } from './graph/agents/agent.js';
export type { AnswerCheck, CheckedText, CheckFunction, CheckInput } from './plan/answer-check.js';
export { agentAsTool } from './graph/agents/agent-as-tool.js';
export { agentTeam } from './graph/agents/agent-team.js';
export type { Agent, AgentOutcome } from './graph/agents/planned-agent.js';
export { planAndExecute } from './graph/agents/plan-and-execute.js';
export { reflectionLoop } from './graph/agents/reflection-loop.js';
export { goto, type Goto } from './plan/goto.js';
export type { Guide, GuideCounts, GuideEnd, GuideOf, GuideStep, GuideTool, GuideVerdict } from './plan/guide.js';
export { reducers, type ReducerInput } from './notations/graph/reducers.js';
export type { BuiltNode, NodeSpec } from './notations/graph/nodes/planned.js';
export type { DryRun, EdgeView, GraphNode, RouteView, StateKey } from './notations/graph/inspect.js';
export type { StepPart, TaskStep } from './plan/builder-input.js';
export { END, type ItemError, type RunEnd, type StepEnd } from './plan/plan.js';
export type { LostCall, Probed } from './plan/probe.js';
