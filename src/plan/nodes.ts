import { nodePathOf } from '../base/address.js';
import { madeOnce } from '../base/collections.js';
import { present } from '../base/json.js';
import type { Template } from '../lang/values.js';
import type { AgentSpec } from './agent-spec.js';
import type { AgentNode, InputSpec, Plan, PlanNode } from './plan.js';

export interface PlacedNode {
  readonly node: PlanNode;
  readonly path: string;
  readonly plan: Plan;
}

/** Yields the nodes of a plan and of its nested plans, outer ones before those inside them. */
export function* nodesOf(plan: Plan, prefix = ''): Generator<PlacedNode> {
  for (const node of plan.nodes) {
    const path = prefix + node.id;
    yield { node, path, plan };
    // Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
    if ('plan' in node) yield* nodesOf(node.plan, `${path}/`);
  }
}

export function* agentsOf(plan: Plan): Generator<PlacedNode & { readonly node: AgentNode }> {
  for (const { node, ...place } of nodesOf(plan)) if (node.kind === 'agent') yield { node, ...place };
}

const byId = new WeakMap<Plan, ReadonlyMap<string, PlanNode>>();

/** Returns the nodes of a frozen plan by id. */
export function nodesById(plan: Plan): ReadonlyMap<string, PlanNode> {
  return madeOnce(byId, plan, () => {
    const nodes = new Map<string, PlanNode>();
    for (const node of plan.nodes) nodes.set(node.id, node);
    return nodes;
  });
}

/** Returns a function that finds the node of a step's path; undefined if an edited plan no longer has it. */
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

export function hasBudget(plan: Plan): boolean {
  if (plan.budget !== undefined) return true;
  for (const { node } of nodesOf(plan))
    if (node.budget !== undefined || ('plan' in node && node.plan.budget !== undefined)) return true;
  return false;
}

const supervised = new WeakMap<Plan, boolean>();

export function isSupervisedPlan(plan: Plan): boolean {
  return madeOnce(supervised, plan, () => [...nodesOf(plan)].some(({ node }) => node.supervise !== undefined));
}

/**
 * Returns the promise of a supervised node: its instruction, or an agent's prompt, which may be empty if it only continues a conversation;
 * then its system prompt. Undefined if there is none.
 */
export function instructionOf(node: PlanNode): Template | undefined {
  if (node.supervise?.instruction !== undefined) return node.supervise.instruction;
  if (node.kind !== 'agent') return node.kind === 'task' ? node.asked : undefined;
  return node.prompt.length > 0 ? node.prompt : node.agent.instructions;
}

export function runsFunction(node: PlanNode): boolean {
  return (node.kind === 'task' && node.tool === undefined) || (node.kind === 'wait' && node.until === 'code');
}

/** Returns whether a node is an agent: one of Skein's, or a function that is one. */
export function isAgentNode(node: PlanNode): boolean {
  return node.kind === 'agent' || (node.kind === 'task' && node.asked !== undefined);
}

/** Returns the agent that the supervision of a step calls: with the named model, or the step's agent without its tools and settings. */
export function phaseAgent(node: PlanNode, model: string | undefined): AgentSpec {
  const agent: Pick<AgentSpec, 'name' | 'models' | 'provider' | 'policy'> =
    node.kind === 'agent' ? node.agent : { name: node.id, models: [] };
  const { name, models, provider, policy } = agent;
  const own = { name, instructions: [], models: model === undefined ? models : [model], ...present({ policy }) };
  return model === undefined && provider !== undefined ? { ...own, provider } : own;
}

export function isNeeded(input: InputSpec): boolean {
  return input.required && input.default === undefined;
}

/** Returns the files of the scripts among models: `answers.yaml` for `script/answers.yaml`. */
export function scriptsAmong(models: readonly string[]): readonly string[] {
  const names = models.map((model) => model.trim());
  return names.filter((name) => /^script\//i.test(name)).map((name) => name.slice('script/'.length));
}

/** Returns the models that the budgets of a plan, and of all inside it, name for when they are short. */
export function modelsOfBudgets(plan: Plan): readonly string[] {
  const inside = [...nodesOf(plan)].flatMap(({ node }) => [node.budget, 'plan' in node ? node.plan.budget : undefined]);
  return [plan.budget, ...inside].flatMap((budget) =>
    typeof budget?.onLimit === 'object' ? [budget.onLimit.model] : [],
  );
}
