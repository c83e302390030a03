import { visitCaps, MODEL_TRIES, REPAIR_ROUNDS, maxStepsOf, maxToolCallsOf, maxTurnsOf } from './limits.js';
import type { AgentSpec } from './agent-spec.js';
import { analyzeShape } from './graph-shape.js';
import type { GraphShape } from './graph-shape.js';
import type { AgentNode, Plan, PlanNode } from './plan.js';
import { forEachReach } from './reach.js';

/** A number of calls from above; `unbounded` where nothing bounds it (which `checkPlan` reports as a problem). */
export type Bound = number | 'unbounded';

/** What a run can cost, in calls. */
export interface Envelope {
  readonly modelCalls: { readonly typical: number; readonly worst: Bound };
  readonly toolCalls: { readonly typical: number; readonly worst: Bound };
}

/** A loop is taken to end in its second round, and a list to have this many items. */
const TYPICAL_ROUNDS = 2;
const TYPICAL_ITEMS = 5;

/** More edges that lead back than this are not followed one by one. */
const MOST_CYCLES = 256;

/**
 * How many model and tool calls a run of a plan makes at most, and typically. At most: every branch is taken, every agent uses all its turns
 * and its repair round, every turn is tried three times (and once more as often for each further model of the agent), every retry is used,
 * every loop and map goes to its cap; nodes on a cycle run until `maxVisits` or the plan's `maxSteps`. Typically: every node runs once; an
 * agent makes one call, or two and one tool call when it has tools; a loop takes two rounds, a map has five items.
 *
 * @example
 * estimateCalls(plan).modelCalls; // { typical: 8, worst: 546 }
 */
export function estimateCalls(plan: Plan): Envelope {
  const cost = planCost(plan);
  return {
    modelCalls: { typical: cost.typicalModel, worst: boundOf(cost.worstModel) },
    toolCalls: { typical: cost.typicalTool, worst: boundOf(cost.worstTool) },
  };
}

interface Cost {
  readonly typicalModel: number;
  readonly typicalTool: number;
  readonly worstModel: number;
  readonly worstTool: number;
}

function boundOf(calls: number): Bound {
  return Number.isFinite(calls) ? calls : 'unbounded';
}

// Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
function planCost(plan: Plan): Cost {
  const visits = visitBounds(plan, analyzeShape(plan));
  let sum: Cost = { typicalModel: 0, typicalTool: 0, worstModel: 0, worstTool: 0 };
  plan.nodes.forEach((node, at) => {
    const cost = nodeCost(node);
    const attempts = (1 + (node.retry?.retries ?? 0)) * (visits[at] ?? 1);
    sum = {
      typicalModel: sum.typicalModel + cost.typicalModel,
      typicalTool: sum.typicalTool + cost.typicalTool,
      worstModel: sum.worstModel + times(cost.worstModel, attempts),
      worstTool: sum.worstTool + times(cost.worstTool, attempts),
    };
  });
  return sum;
}

/** Nothing without end is nothing. */
function times(calls: number, count: number): number {
  return calls === 0 ? 0 : calls * count;
}

function nodeCost(node: PlanNode): Cost {
  switch (node.kind) {
    case 'agent':
      return agentCost(node);
    case 'call':
      return planCost(node.plan);
    case 'map':
      return repeated(planCost(node.plan), node.maxItems, TYPICAL_ITEMS);
    case 'loop':
      return repeated(planCost(node.plan), node.maxRounds, TYPICAL_ROUNDS);
    case 'task':
    case 'ask':
    case 'wait':
    case 'pass':
      return { typicalModel: 0, typicalTool: 0, worstModel: 0, worstTool: 0 };
  }
}

function repeated(cost: Cost, cap: number | undefined, typical: number): Cost {
  const most = cap ?? Number.POSITIVE_INFINITY;
  const usual = Math.min(most, typical);
  return {
    typicalModel: cost.typicalModel * usual,
    typicalTool: cost.typicalTool * usual,
    worstModel: times(cost.worstModel, most),
    worstTool: times(cost.worstTool, most),
  };
}

function agentCost({ agent, choice }: AgentNode): Cost {
  const withTools = hasTools(agent) || choice !== undefined;
  const turns = withTools || agent.maxTurns !== undefined ? maxTurnsOf(agent) : 1;
  const repair = agent.output === undefined ? 0 : REPAIR_ROUNDS;
  // Once a model has given up, the next one of the list takes over for all turns that are left.
  const models = Math.max(1, agent.models.length);
  const calls = withTools ? maxToolCallsOf(agent) : 0;
  const inner = innerCost(agent);
  return {
    typicalModel: (withTools ? Math.min(2, turns) : 1) + inner.typicalModel,
    typicalTool: (withTools ? 1 : 0) + inner.typicalTool,
    worstModel: MODEL_TRIES * (turns + repair + models - 1) + times(inner.worstModel, calls),
    worstTool: calls + times(inner.worstTool, calls),
  };
}

/** What one call of the most expensive tool costs inside of it, where that is an agent or a workflow. */
function innerCost({ functions = [] }: AgentSpec): Cost {
  const known = functions.flatMap(({ calls }) => calls ?? []);
  return {
    typicalModel: highest(known.map(({ modelCalls }) => modelCalls.typical)),
    typicalTool: highest(known.map(({ toolCalls }) => toolCalls.typical)),
    worstModel: highest(known.map(({ modelCalls }) => modelCalls.worst)),
    worstTool: highest(known.map(({ toolCalls }) => toolCalls.worst)),
  };
}

function hasTools(agent: AgentSpec): boolean {
  if (agent.tools === undefined || agent.tools.length > 0 || (agent.functions ?? []).length > 0) return true;
  return Object.keys(agent.mcpServers ?? {}).length > 0 || agent.interactive === true || agent.memory !== undefined;
}

function highest(bounds: readonly Bound[]): number {
  return Math.max(0, ...bounds.map((bound) => (bound === 'unbounded' ? Number.POSITIVE_INFINITY : bound)));
}

/** How often each node runs at most in one run of the plan. */
function visitBounds(plan: Plan, shape: GraphShape): readonly number[] {
  const maxSteps = maxStepsOf(plan, shape);
  const caps = visitCaps(plan.nodes);
  const capOf = (node: number): number => Math.min(caps.get(node) ?? maxSteps, maxSteps);
  const returns = shape.edges.filter((edge) => edge.closesCycle);
  if (returns.length === 0) return plan.nodes.map(() => 1);
  if (returns.length > MOST_CYCLES) return plan.nodes.map((_, at) => capOf(at));
  // What an edge leads back to has run once by then, so the edge counts for one visit less.
  const repeats = new Map<number, number>();
  for (const { from, to } of returns) {
    repeats.set(to, (repeats.get(to) ?? 0) + Math.min(capOf(from), capOf(to) - 1));
  }
  const visits = plan.nodes.map((_, at) => 1 + (repeats.get(at) ?? 0));
  forEachReach(shape, [...repeats.keys()], true, (sources, masks) => {
    sources.forEach((source, bit) => {
      masks.forEach((mask, node) => {
        if (node !== source && (mask >>> bit) & 1) visits[node] = (visits[node] ?? 1) + (repeats.get(source) ?? 0);
      });
    });
    return true;
  });
  return visits.map((count, at) => Math.min(count, capOf(at)));
}
