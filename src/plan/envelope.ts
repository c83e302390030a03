import { visitCaps, MODEL_TRIES, repairRoundsOf, maxStepsOf, maxToolCallsOf, maxTurnsOf } from './limits.js';
import type { AgentSpec } from './agent-spec.js';
import { analyzeShape } from './graph-shape.js';
import type { GraphShape } from './graph-shape.js';
import type { AgentNode, Plan, PlanNode } from './plan.js';
import { forEachReach } from './reach.js';
import { raised } from './security.js';
import type { Security } from './security.js';
import { MAX_REORIENTS } from './supervision.js';

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
 * and its repair round, every turn is tried three times (and once more as often for each further model of the agent), or every attempt of the `retry` around it is
 * used, which takes the place of the three,
 * every correction of a supervisor is given, models look at every call of a tool where security asks for it, and change its arguments once, every loop and map goes to its cap; nodes on a cycle run until `maxVisits` or the plan's `maxSteps`. Typically: every node runs once; an
 * agent makes one call, or two and one tool call when it has tools; a loop takes two rounds, a map has five items.
 *
 * @example
 * estimateCalls(plan).modelCalls; // { typical: 8, worst: 546 }
 */
export function estimateCalls(plan: Plan): Envelope {
  const { model, tool } = planCost(plan, { tries: MODEL_TRIES, worth: () => ONE });
  return { modelCalls: boundOf(model), toolCalls: boundOf(tool) };
}

/**
 * The calls of {@link estimateCalls}, each counted by what it is worth: one, to count them, or so many dollars. It is asked with the models that may be
 * called and the agent that calls them; with no models where a tool calls agents that nothing is known of.
 */
export function estimateWorth(plan: Plan, worth: Worth): Envelope['modelCalls'] {
  return boundOf(planCost(plan, { tries: MODEL_TRIES, worth }).model);
}

/** What a call is worth, typically and at most. */
export type Worth = (models: readonly string[], agent?: AgentNode) => Calls;

/** How calls are counted. */
interface Counting {
  /** What holds around what is counted. */
  readonly security?: Security | undefined;
  /** Of each call; 1 inside of a node with a `retry`, whose attempts are counted together with those of the calls inside of it. */
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

/** So many times the cost, typically and at most. Nothing without end is nothing. */
function repeated({ model, tool }: Cost, typical: number, most: number): Cost {
  const times = (calls: Calls): Calls => ({
    typical: calls.typical * typical,
    worst: calls.worst === 0 ? 0 : calls.worst * most,
  });
  return { model: times(model), tool: times(tool) };
}

/** What a plan costs. Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here. */
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
 * What a node costs with what judges it: the promise, and after each attempt what the agent says of it and what the supervisor says, each of them a turn that is
 * tried like one of the agent's. Typically promise and work agree, and nobody judges; a person costs no call.
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
  // Once a model has given up, the next one of the list takes over for all turns that are left.
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

/** Both stages look at a call, and once more where its arguments are changed. */
const VERDICTS = { typical: 2, worst: 4 };

/** What is paid for looking at one call of a tool. Typically no untrusted text had a say in it, so that `default` asks nobody. */
function verdictCost(node: AgentNode, { tries, worth, security }: Counting): Cost {
  if (security === undefined) return NOTHING;
  const models = security.model === undefined ? node.agent.models : [security.model];
  const { typical, worst } = worth(models, node);
  const most = VERDICTS.worst * tries * Math.max(1, models.length);
  const usual = security.mode === 'default' ? 0 : VERDICTS.typical;
  return { ...NOTHING, model: { typical: usual * typical, worst: most * worst } };
}

/** What one call of the most expensive tool costs inside of it, where that is an agent or a workflow. */
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
