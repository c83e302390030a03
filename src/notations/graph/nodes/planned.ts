import type { AgentSpec } from '../../../plan/agent-spec.js';
import { checkKey } from '../../../plan/answer-check.js';
import { toolKey } from '../../../plan/agent-spec.js';
import type { Bindings, Plan, PlanNode } from '../../../plan/plan.js';
import type { Template } from '../../../lang/values.js';

/** Known again across copies of this module. */
export const PLANNED: unique symbol = Symbol.for('skein.planned') as never;

/** An agent that Skein knows from the inside: a language model with tools, or a workflow. As a node it is recorded and drawn like any other. */
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

/** A workflow that takes a task and gives an answer. */
export interface PlannedWorkflow {
  readonly kind: 'workflow';
  readonly plan: Plan;
  readonly bindings: Bindings;
  /** The input that takes the task. */
  readonly taskParam: string;
  /** The key whose value is the answer. */
  readonly answerKey: string;
}

/** What is known of an agent from the inside; undefined for one of somebody else. */
export function plannedOf(agent: unknown): Planned | undefined {
  if ((typeof agent !== 'object' && typeof agent !== 'function') || agent === null || !(PLANNED in agent))
    return undefined;
  return agent[PLANNED] as Planned;
}

/** Where a node is to stand. */
interface Place {
  readonly name: string;
  readonly output: string;
  /** The key of the state that holds the task; null: there is none. */
  readonly taskParam: string | null;
}

/** An agent that is known from the inside, as a node. */
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

/** The functions of a workflow inside of a node. */
export function innerBindings(node: string, bindings: Bindings): Bindings {
  return Object.fromEntries(Object.entries(bindings).map(([key, value]) => [`${node}/${key}`, value]));
}

/** What a {@link NodeSpec} gives: a node of a plan, its functions, and what it reads. */
export interface BuiltNode {
  /** With the id that was asked for. */
  readonly node: PlanNode;
  /** Functions under the keys of {@link Bindings}: the body under the node's name, those of a sub-plan under `NAME/KEY`. */
  readonly bindings?: Bindings;
  /**
   * Names of the state that it needs, beside those that stand in the node's templates and conditions. Added with `.node`, a name of a
   * node makes an edge; any other name that no node writes is an input of the workflow.
   */
  readonly reads?: readonly string[];
  /** Names that it takes when they are there. Added with `.node`, a name of a node makes an edge. */
  readonly mayRead?: readonly string[];
}

/**
 * A node that is made by something else than a function of the user: an agent, a tool, another workflow, a map over a list. It can be
 * built any number of times under different names. `R` is the type of the result that it leaves in the state, `Writes` are further keys that it
 * writes.
 */
export interface NodeSpec<R = unknown, Writes extends string = never> {
  /** Makes the node under a name. Its result goes to the key `output`, or to the one named like the node. Nothing is started. */
  build(name: string, output?: string): BuiltNode;
  /** Nodes at which it says by itself to go on. */
  readonly targets?: readonly string[];
  /** The type of the result; never there when the program runs. */
  readonly result?: R;
  /** The keys that it writes in addition; likewise. */
  readonly writes?: Writes;
}

/** Tells node makers from functions. */
export function isNodeSpec(value: unknown): value is NodeSpec {
  return typeof value === 'object' && value !== null && 'build' in value && typeof value.build === 'function';
}
