import { visitCaps, MODEL_TRIES, repairRoundsOf, maxStepsOf, maxToolCallsOf, maxTurnsOf } from './limits.js';
import type { AgentSpec } from './agent-spec.js';
import { analyzeShape, type GraphShape } from './graph-shape.js';
import type { AgentNode, Plan, PlanNode } from './plan.js';
import { forEachReach } from './reach.js';
import { raised, type Security } from './security.js';
import { MAX_REORIENTS } from './supervision.js';

/** An upper bound of calls; `unbounded` if there is none (which `checkPlan` reports as a problem). */
export type Bound = number | 'unbounded';

/** The cost of a run, in calls. */
export interface Envelope {
  readonly modelCalls: { readonly typical: number; readonly worst: Bound };
  readonly toolCalls: { readonly typical: number; readonly worst: Bound };
}

/** Assumes that a loop ends in its second round, and that a list has this many items. */
const TYPICAL_ROUNDS = 2;
const TYPICAL_ITEMS = 5;

/** Above this number of edges that lead back, they are not followed one by one. */
const MOST_CYCLES = 256;

/**
 * Returns how many model and tool calls a run of a plan makes at most, and typically. At most: every branch is taken; every agent uses all
 * its turns and its repair round; every turn is tried three times (and as often again for each further model), or as often as the
 * surrounding `retry` allows instead; a supervisor uses every correction; security models review every tool call and change its arguments
 * once; every loop and map reaches its cap; nodes on a cycle run until `maxVisits` or the plan's `maxSteps`. Typically: every node runs
 * once; an agent makes one call, or two and one tool call if it has tools; a loop has two rounds, a map five items.
 *
 * @example
 * estimateCalls(plan).modelCalls; // { typical: 8, worst: 546 }
 */
export function estimateCalls(plan: Plan): Envelope {
  const { model, tool } = planCost(plan, { tries: MODEL_TRIES, worth: () => ONE });
  return { modelCalls: boundOf(model), toolCalls: boundOf(tool) };
}

/**
 * Returns the calls of {@link estimateCalls}, each weighted by its worth: one, to count calls, or an amount of dollars. `worth` receives
 * the possible models and the calling agent; no models for a tool that calls unknown agents.
 */
export function estimateWorth(plan: Plan, worth: Worth): Envelope['modelCalls'] {
  return boundOf(planCost(plan, { tries: MODEL_TRIES, worth }).model);
}

export type Worth = (models: readonly string[], agent?: AgentNode) => Calls;

interface Counting {
  /** The security that applies around the counted nodes. */
  readonly security?: Security | undefined;
  /** Tries of each call; 1 inside a node with a `retry`, whose attempts are counted together with those of its calls. */
  readonly tries: number;
  readonly worth: Worth;
}

interface Calls {
  readonly typical: number;
  readonly worst: number;
}

interface Cost {
  readonly model: Calls;
  readonly tool: Calls;
}

const ONE: Calls = { typical: 1, worst: 1 };

const NOTHING: Cost = { model: { typical: 0, worst: 0 }, tool: { typical: 0, worst: 0 } };

function boundOf({ typical, worst }: Calls): Envelope['modelCalls'] {
  return { typical, worst: Number.isFinite(worst) ? worst : 'unbounded' };
}

function sumOf(one: Cost, other: Cost): Cost {
  return { model: plus(one.model, other.model), tool: plus(one.tool, other.tool) };
}

function plus(a: Calls, b: Calls): Calls {
  return { typical: a.typical + b.typical, worst: a.worst + b.worst };
}

/** Multiplies a cost, typically and at most. Unbounded times nothing is nothing. */
function repeated({ model, tool }: Cost, typical: number, most: number): Cost {
  const times = (calls: Calls): Calls => ({
    typical: calls.typical * typical,
    worst: calls.worst === 0 ? 0 : calls.worst * most,
  });
  return { model: times(model), tool: times(tool) };
}

/** Returns the cost of a plan. Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here. */
function planCost(plan: Plan, { tries, worth, security: around }: Counting): Cost {
  const visits = visitBounds(plan, analyzeShape(plan));
  return plan.nodes.reduce((sum, node, at) => {
    const { retry } = node;
    const attempts = 1 + (retry?.retries ?? 0);
    const security = raised(raised(around, plan.security), node.security);
    const tried = repeated(nodeCost(node, { tries: retry === undefined ? tries : 1, worth, security }), 1, attempts);
    const cost = supervisedCost(node, tried, { tries: retry === undefined ? tries : attempts, worth });
    return sumOf(sum, repeated(cost, 1, visits[at] ?? 1));
  }, NOTHING);
}

/**
 * Returns the cost of a node with its supervision: the promise, and after each attempt the agent's assessment and the supervisor's verdict,
 * each a turn that is tried like the agent's turns. Typically promise and work agree without a judge; a person costs no call.
 */
function supervisedCost(node: PlanNode, body: Cost, { tries, worth }: Counting): Cost {
  const { supervise } = node;
  if (supervise === undefined) return body;
  const { by, model, checkpointModel = model, maxReorients = MAX_REORIENTS } = supervise;
  const own = node.kind === 'agent' ? node.agent.models : checkpointModel === undefined ? [] : [checkpointModel];
  const most = tries * (node.kind === 'agent' ? Math.max(1, own.length) : 1);
  const turnOf = (models: readonly string[]): Cost => {
    const { typical, worst } = worth(models, node.kind === 'agent' ? node : undefined);
    return { ...NOTHING, model: { typical, worst: worst * most } };
  };
  const turn = turnOf(own);
  const verdict = turnOf(model === undefined ? own : [model]);
  const judged = sumOf(body, by === 'human' ? turn : sumOf(turn, repeated(verdict, 0, 1)));
  return sumOf(turn, repeated(judged, 1, 1 + maxReorients));
}

function nodeCost(node: PlanNode, counting: Counting): Cost {
  switch (node.kind) {
    case 'agent':
      return agentCost(node, counting);
    case 'call':
      return planCost(node.plan, counting);
    case 'map':
      return capped(planCost(node.plan, counting), node.maxItems, TYPICAL_ITEMS);
    case 'loop':
      return capped(planCost(node.plan, counting), node.maxRounds, TYPICAL_ROUNDS);
    case 'task':
      return node.tool === undefined ? NOTHING : { ...NOTHING, tool: ONE };
    case 'ask':
    case 'wait':
    case 'pass':
    case 'set':
    case 'end':
      return NOTHING;
  }
}

function capped(cost: Cost, cap: number | undefined, typical: number): Cost {
  const most = cap ?? Number.POSITIVE_INFINITY;
  return repeated(cost, Math.min(most, typical), most);
}

function agentCost(node: AgentNode, { tries, worth, security }: Counting): Cost {
  const { agent, choice } = node;
  const withTools = hasTools(agent) || choice !== undefined;
  const turns = withTools || agent.maxTurns !== undefined ? maxTurnsOf(agent) : 1;
  const repair = repairRoundsOf(node);
  // Once a model has failed, the next one of the list is used for all remaining turns.
  const models = Math.max(1, agent.models.length);
  const calls = withTools ? maxToolCallsOf(agent) : 0;
  const each = worth(agent.models, node);
  const own = {
    model: {
      typical: (withTools ? Math.min(2, turns) : 1) * each.typical,
      worst: tries * (turns + repair + models - 1) * each.worst,
    },
    tool: { typical: withTools ? 1 : 0, worst: calls },
  };
  const judged = repeated(verdictCost(node, { tries, worth, security }), own.tool.typical, calls);
  return sumOf(sumOf(own, judged), repeated(innerCost(agent, worth), 1, calls));
}

/** Both stages review a call, and again if its arguments are changed. */
const VERDICTS = { typical: 2, worst: 4 };

/** Returns the cost of reviewing one tool call. Typically no untrusted text influenced it, so `default` calls no model. */
function verdictCost(node: AgentNode, { tries, worth, security }: Counting): Cost {
  if (security === undefined) return NOTHING;
  const models = security.model === undefined ? node.agent.models : [security.model];
  const { typical, worst } = worth(models, node);
  const most = VERDICTS.worst * tries * Math.max(1, models.length);
  const usual = security.mode === 'default' ? 0 : VERDICTS.typical;
  return { ...NOTHING, model: { typical: usual * typical, worst: most * worst } };
}

/** Returns the inner cost of the most expensive tool, if it is an agent or a workflow. */
function innerCost({ functions = [] }: AgentSpec, worth: Worth): Cost {
  const known = functions.flatMap(({ calls }) => calls ?? []);
  const most = (kind: 'modelCalls' | 'toolCalls'): Calls => ({
    typical: highest(known.map((calls) => calls[kind].typical)),
    worst: highest(known.map((calls) => calls[kind].worst)),
  });
  const { typical, worst } = most('modelCalls');
  const each = worth([]);
  const model = { typical: typical * each.typical, worst: each.worst === 0 ? 0 : worst * each.worst };
  return { model, tool: most('toolCalls') };
}

function hasTools(agent: AgentSpec): boolean {
  if (agent.tools === undefined || agent.tools.length > 0 || (agent.functions ?? []).length > 0) return true;
  return Object.keys(agent.mcpServers ?? {}).length > 0 || agent.interactive === true || agent.memory !== undefined;
}

function highest(bounds: readonly Bound[]): number {
  return Math.max(0, ...bounds.map((bound) => (bound === 'unbounded' ? Number.POSITIVE_INFINITY : bound)));
}

/** Returns how often each node runs at most in one run of the plan. */
function visitBounds(plan: Plan, shape: GraphShape): readonly number[] {
  const maxSteps = maxStepsOf(plan, shape);
  const caps = visitCaps(plan.nodes);
  const capOf = (node: number): number => Math.min(caps.get(node) ?? maxSteps, maxSteps);
  const returns = shape.edges.filter((edge) => edge.closesCycle);
  if (returns.length === 0) return plan.nodes.map(() => 1);
  if (returns.length > MOST_CYCLES) return plan.nodes.map((_, at) => capOf(at));
  // The target of an edge that leads back has already run once, so the edge counts for one visit less.
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
