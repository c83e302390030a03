import { nodePathOf } from '../base/address.js';
import { madeOnce } from '../base/collections.js';
import { present } from '../base/json.js';
import type { Template } from '../lang/values.js';
import type { AgentSpec } from './agent-spec.js';
import type { AgentNode, InputSpec, Plan, PlanNode } from './plan.js';

/** A node with its path, and the plan that it stands in. */
export interface PlacedNode {
  readonly node: PlanNode;
  readonly path: string;
  readonly plan: Plan;
}

/** The nodes of a plan and of the plans in it, an outer one before those inside of it. */
export function* nodesOf(plan: Plan, prefix = ''): Generator<PlacedNode> {
  for (const node of plan.nodes) {
    const path = prefix + node.id;
    yield { node, path, plan };
    // Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
    if ('plan' in node) yield* nodesOf(node.plan, `${path}/`);
  }
}

/** The agents of a plan and of the plans in it. */
export function* agentsOf(plan: Plan): Generator<PlacedNode & { readonly node: AgentNode }> {
  for (const { node, ...place } of nodesOf(plan)) if (node.kind === 'agent') yield { node, ...place };
}

const byId = new WeakMap<Plan, ReadonlyMap<string, PlanNode>>();

/** The nodes of a plan that no one changes any more, by their ids. */
export function nodesById(plan: Plan): ReadonlyMap<string, PlanNode> {
  return madeOnce(byId, plan, () => new Map(plan.nodes.map((node) => [node.id, node])));
}

/** Finds the node of a plan that a path is an execution of; undefined when the plan has none, because it was edited. */
export function nodeFinder(plan: Plan): (path: string) => PlanNode | undefined {
  return (path) => {
    let inside: Plan | undefined = plan;
    let node: PlanNode | undefined;
    for (const id of nodePathOf(path).split('/')) {
      if (inside === undefined) return undefined;
      node = nodesById(inside).get(id);
      if (node === undefined) return undefined;
      inside = 'plan' in node ? node.plan : undefined;
    }
    return node;
  };
}

/** Whether a plan, or a node or a plan in it, has a budget. */
export function hasBudget(plan: Plan): boolean {
  if (plan.budget !== undefined) return true;
  for (const { node } of nodesOf(plan))
    if (node.budget !== undefined || ('plan' in node && node.plan.budget !== undefined)) return true;
  return false;
}

const supervised = new WeakMap<Plan, boolean>();

/** Whether a plan that no one changes any more, or a plan in it, has a supervised node. */
export function isSupervisedPlan(plan: Plan): boolean {
  return madeOnce(supervised, plan, () => [...nodesOf(plan)].some(({ node }) => node.supervise !== undefined));
}

/**
 * What a supervised node promises: its instruction, or the prompt of an agent, which may be empty where it only answers what was said before; then its
 * system prompt. Undefined where nothing says so.
 */
export function instructionOf(node: PlanNode): Template | undefined {
  if (node.supervise?.instruction !== undefined) return node.supervise.instruction;
  if (node.kind !== 'agent') return node.kind === 'task' ? node.asked : undefined;
  return node.prompt.length > 0 ? node.prompt : node.agent.instructions;
}

/** Whether a node is carried out by a function, which is bound under its id. */
export function runsFunction(node: PlanNode): boolean {
  return (node.kind === 'task' && node.tool === undefined) || (node.kind === 'wait' && node.until === 'code');
}

/** Whether a node is an agent: one of Skein's, or a function that is one. */
export function isAgentNode(node: PlanNode): boolean {
  return node.kind === 'agent' || (node.kind === 'task' && node.asked !== undefined);
}

/** Whom the supervision of a step asks: the model that is named, or the agent of the step, without its tools and settings. */
export function phaseAgent(node: PlanNode, model: string | undefined): AgentSpec {
  const agent: Pick<AgentSpec, 'name' | 'models' | 'provider' | 'policy'> =
    node.kind === 'agent' ? node.agent : { name: node.id, models: [] };
  const { name, models, provider, policy } = agent;
  const own = { name, instructions: [], models: model === undefined ? models : [model], ...present({ policy }) };
  return model === undefined && provider !== undefined ? { ...own, provider } : own;
}

/** Whether somebody has to give an input. */
export function isNeeded(input: InputSpec): boolean {
  return input.required && input.default === undefined;
}
