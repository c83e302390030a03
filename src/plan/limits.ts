import type { AgentSpec } from './agent-spec.js';
import type { GraphShape } from './graph-shape.js';
import type { AgentNode, Plan, PlanNode } from './plan.js';

/** Limits of a run: execution enforces them, and the envelope counts with them. */

/** Turns of an agent without `maxTurns`. */
const DEFAULT_MAX_TURNS = 25;
/** Tool calls of an agent without `maxToolCalls`. */
const DEFAULT_MAX_TOOL_CALLS = 100;

/** Rounds in which an agent may correct an answer refused by its schema or a check, in addition to its turns. */
export const REPAIR_ROUNDS = 1;

export function repairRoundsOf({ agent, fields }: Pick<AgentNode, 'agent' | 'fields'>): number {
  const { output, checks = [] } = agent;
  const mayRefuse = checks.some(({ direction, onViolation }) => direction !== 'input' && onViolation !== 'warn');
  return output === undefined && fields === undefined && !mayRefuse ? 0 : REPAIR_ROUNDS;
}

/** Calls of one model for one turn: the first, and retries after transient errors. */
export const MODEL_TRIES = 3;

/** Output tokens requested for an agent without a limit: each call reserves the whole allowance. */
export const DEFAULT_OUTPUT_TOKENS = 16_384;

/** Nodes that may run one after another without `maxSteps`, in addition to those on the longest path. */
const STEPS_OVER_LONGEST_PATH = 100;

/** Upper bound of rounds, items and visits that counts as a limit. */
export const MOST_ROUNDS = 1_000_000;

/** Returns an agent's maximum number of turns, without repair rounds. */
export function maxTurnsOf({ maxTurns = DEFAULT_MAX_TURNS }: Pick<AgentSpec, 'maxTurns'>): number {
  return maxTurns;
}

/** Returns an agent's maximum number of tool calls. */
export function maxToolCallsOf({ maxToolCalls = DEFAULT_MAX_TOOL_CALLS }: Pick<AgentSpec, 'maxToolCalls'>): number {
  return maxToolCalls;
}

/** Returns how many nodes of a plan may run one after another. */
export function maxStepsOf(plan: Pick<Plan, 'limits'>, shape: Pick<GraphShape, 'longestPath'>): number {
  return plan.limits?.maxSteps ?? shape.longestPath + STEPS_OVER_LONGEST_PATH;
}

/**
 * Returns how often capped nodes run at most in one run of their plan, by index. If later nodes reset their visits, the cap applies once,
 * and again after each run of those.
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

/** Returns the indexes of the capped nodes whose visits a node resets when it runs. */
export function countedAnew(nodes: readonly PlanNode[], at: number): readonly number[] {
  const name = nodes[at]?.countsAnewFrom;
  if (name === undefined) return NONE;
  const from = nodes.findIndex(({ id }) => id === name);
  const found: number[] = [];
  for (let i = Math.max(from, 0); i < at; i += 1) if (nodes[i]?.maxVisits !== undefined) found.push(i);
  return found;
}

const NONE: readonly number[] = [];
