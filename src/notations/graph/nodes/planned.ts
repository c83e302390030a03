import { toolKey, type AgentSpec } from '../../../plan/agent-spec.js';
import { checkKey } from '../../../plan/answer-check.js';
import type { Bindings, Plan, PlanNode } from '../../../plan/plan.js';
import type { Template } from '../../../lang/values.js';

/** Shared by all copies of this module, so that they recognize each other's agents. */
export const PLANNED: unique symbol = Symbol.for('skein.planned') as never;

/** An agent with a known structure: a language model with tools, or a workflow. As a node it is recorded and drawn like any other. */
export type Planned = PlannedAgent | PlannedWorkflow;

/** A language model with tools. */
export interface PlannedAgent {
  readonly kind: 'agent';
  readonly spec: AgentSpec;
  /** Functions of its tools by the names of the tools. */
  readonly tools: Bindings;
  /** Functions that check its texts, by their names. */
  readonly checks?: Bindings;
}

/** A workflow that accepts a task and returns an answer. */
export interface PlannedWorkflow {
  readonly kind: 'workflow';
  readonly plan: Plan;
  readonly bindings: Bindings;
  /** The input for the task. */
  readonly taskParam: string;
  /** The key that holds the answer. */
  readonly answerKey: string;
}

/** Returns the structure of an agent. Undefined for a foreign agent. */
export function plannedOf(agent: unknown): Planned | undefined {
  if ((typeof agent !== 'object' && typeof agent !== 'function') || agent === null || !(PLANNED in agent))
    return undefined;
  return agent[PLANNED] as Planned;
}

interface Place {
  readonly name: string;
  readonly output: string;
  readonly taskParam: string | null;
}

export function plannedNode(planned: Planned, place: Place): BuiltNode {
  const task: Template = place.taskParam === null ? [] : [{ channel: place.taskParam, mustBe: 'text' }];
  return planned.kind === 'agent' ? modelNode(planned, place, task) : callNode(planned, place, task);
}

function modelNode({ spec, tools, checks = {} }: PlannedAgent, { name, output }: Place, prompt: Template): BuiltNode {
  const functions = (spec.functions ?? []).map((tool) => [toolKey(name, tool.name), tools[tool.name]] as const);
  const checking = Object.entries(checks).map(([check, fn]) => [checkKey(name, check), fn] as const);
  return {
    node: { id: name, kind: 'agent', agent: spec, prompt, output },
    bindings: Object.fromEntries([...functions, ...checking]),
  };
}

function callNode(planned: PlannedWorkflow, { name, output }: Place, template: Template): BuiltNode {
  const { plan, bindings, taskParam, answerKey } = planned;
  const channel = plan.inputs.find((input) => input.name === taskParam)?.channel ?? taskParam;
  return {
    node: {
      id: name,
      kind: 'call',
      plan,
      inputs: { [channel]: { template } },
      outputs: { [output]: answerKey },
      output,
      errorPrefix: `agentNode('${name}'): the agent failed: `,
    },
    bindings: innerBindings(name, bindings),
  };
}

export function innerBindings(node: string, bindings: Bindings): Bindings {
  return Object.fromEntries(Object.entries(bindings).map(([key, value]) => [`${node}/${key}`, value]));
}

/** The result of a {@link NodeSpec}: a node of a plan, its functions, and what it reads. */
export interface BuiltNode {
  /** The node, with the requested id. */
  readonly node: PlanNode;
  /** Functions under the keys of {@link Bindings}: the body under the node's name, those of a sub-plan under `NAME/KEY`. */
  readonly bindings?: Bindings;
  /** The node inside it that does its work: the options `effect` and `version` are those of this one. */
  readonly work?: string;
  /**
   * Names of the state it requires, in addition to those in the node's templates and conditions. If it is added with `.node`, the name of a
   * node creates an edge. Any other name that no node writes is an input of the workflow.
   */
  readonly reads?: readonly string[];
  /** Names it reads if present. If it is added with `.node`, the name of a node creates an edge. */
  readonly mayRead?: readonly string[];
}

/**
 * A node that is not made from a function of the user: an agent, a tool, another workflow, a map over a list. It can be built several
 * times, under different names. `R` is the type of the result stored in the state; `Writes` are further keys that it writes.
 */
export interface NodeSpec<R = unknown, Writes extends string = never> {
  /** Builds the node under a name. Its result is stored under the key `output`, which defaults to the node's name. Starts nothing. */
  build(name: string, output?: string): BuiltNode;
  /** Nodes it may continue with by its own choice. */
  readonly targets?: readonly string[];
  /** The type of the result. Never present at run time. */
  readonly result?: R;
  /** The keys it writes in addition. Never present at run time. */
  readonly writes?: Writes;
}

export function isNodeSpec(value: unknown): value is NodeSpec {
  return typeof value === 'object' && value !== null && 'build' in value && typeof value.build === 'function';
}
