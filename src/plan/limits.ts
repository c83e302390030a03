import type { AgentSpec } from './agent-spec.js';
import type { GraphShape } from './graph-shape.js';
import type { AgentNode, Plan, PlanNode } from './plan.js';

/** What bounds a run: what runs keeps to it, and the envelope counts by it. */

/** Turns of an agent that sets no `maxTurns`. */
const DEFAULT_MAX_TURNS = 25;
/** Calls of tools of an agent that sets no `maxToolCalls`. */
const DEFAULT_MAX_TOOL_CALLS = 100;

/** Rounds in which an agent may correct an answer that its schema or a check refuses, in addition to its turns. */
export const REPAIR_ROUNDS = 1;

/** Rounds of repair that an agent may need. */
export function repairRoundsOf({ agent, fields }: Pick<AgentNode, 'agent' | 'fields'>): number {
  const { output, checks = [] } = agent;
  const mayRefuse = checks.some(({ direction, onViolation }) => direction !== 'input' && onViolation !== 'warn');
  return output === undefined && fields === undefined && !mayRefuse ? 0 : REPAIR_ROUNDS;
}

/** Calls of one model for one turn: the first, and those after errors that may pass. */
export const MODEL_TRIES = 3;

/** Tokens of output that are asked for where an agent sets no limit: whatever is allowed is reserved for each call. */
export const DEFAULT_OUTPUT_TOKENS = 16_384;

/** Nodes that may run one after another in a plan that sets no `maxSteps`, in addition to those on its longest path. */
const STEPS_OVER_LONGEST_PATH = 100;

/** More rounds, items or visits than this are not a bound. */
export const MOST_ROUNDS = 1_000_000;

/** Turns of an agent at most, without the rounds of repair. */
export function maxTurnsOf({ maxTurns = DEFAULT_MAX_TURNS }: Pick<AgentSpec, 'maxTurns'>): number {
  return maxTurns;
}

/** Calls of tools that an agent makes at most. */
export function maxToolCallsOf({ maxToolCalls = DEFAULT_MAX_TOOL_CALLS }: Pick<AgentSpec, 'maxToolCalls'>): number {
  return maxToolCalls;
}

/** Nodes of a plan that run one after another at most. */
export function maxStepsOf(plan: Pick<Plan, 'limits'>, shape: Pick<GraphShape, 'longestPath'>): number {
  return plan.limits?.maxSteps ?? shape.longestPath + STEPS_OVER_LONGEST_PATH;
}

/**
 * How often nodes with a cap run at most in one run of their plan, by index: where another node has their visits counted anew, so often for each
 * of its runs, and once more.
 */
export function visitCaps(nodes: readonly PlanNode[]): ReadonlyMap<number, number> {
  const caps = new Map<number, number>();
  const outer: { readonly from: number; readonly runs: number }[] = [];
  const places = new Map(nodes.map(({ id }, at) => [id, at]));
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at];
    if (node?.maxVisits === undefined) continue;
    const entries = outer.reduce((sum, { from, runs }) => (from <= at ? sum + runs : sum), 1);
    const runs = Math.min(node.maxVisits * entries, Number.MAX_SAFE_INTEGER);
    caps.set(at, runs);
    const from = node.countsAnewFrom === undefined ? undefined : places.get(node.countsAnewFrom);
    if (from !== undefined) outer.push({ from, runs });
  }
  return caps;
}

/** Indexes of the nodes with a cap that have their visits counted anew when a node runs. */
export function countedAnew(nodes: readonly PlanNode[], at: number): readonly number[] {
  const name = nodes[at]?.countsAnewFrom;
  if (name === undefined) return NONE;
  const from = nodes.findIndex(({ id }) => id === name);
  const found: number[] = [];
  for (let i = Math.max(from, 0); i < at; i += 1) if (nodes[i]?.maxVisits !== undefined) found.push(i);
  return found;
}

const NONE: readonly number[] = [];
