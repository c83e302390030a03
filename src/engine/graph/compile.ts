import { runsFunction } from '../../plan/nodes.js';
import { addTo } from '../../base/collections.js';
import { analyzeShape, routeTargets, type GraphShape } from '../../plan/graph-shape.js';
import { maxStepsOf, countedAnew } from '../../plan/limits.js';
import type { GuideOf } from '../../plan/guide.js';
import type { Bindings, Plan, PlanNode, Require, Route } from '../../plan/plan.js';
import type { ProbeFunction } from '../../plan/probe.js';
import { fieldChannels } from '../../plan/references.js';
import type { LabelledChannel } from '../../lang/outputs-block.js';
import { policiesOf, type Policies } from '../steps/policies/index.js';
import { boundFunction, boundTo, checksOf, guideOf, probeOf, toolsOf, untilOf } from './bound-functions.js';
import { givenBy, tableOf, type ChannelTable } from './channel-table.js';
import { findCycles } from './cycles.js';

/** A plan prepared for running: node and channel names are indexes, edges are arrays. Immutable, shared by all runs of the plan. */
export interface CompiledPlan {
  readonly plan: Plan;
  readonly bindings: Bindings;
  /** Number of branches that must succeed; undefined if the first failure ends the plan. */
  readonly require: Require | undefined;
  /** Whether something around it continues after its failure. If so, what could have failed it also decides what it gives. */
  readonly survived: boolean;
  /** The same plan for its `finally` node, which alone starts. */
  readonly closing: CompiledPlan | undefined;
  /** Prefix of its keys in the bindings. */
  readonly prefix: string;
  readonly nodes: readonly CompiledNode[];
  /** Nodes that start a run (E6), in plan order. */
  readonly starts: readonly number[];
  readonly index: ReadonlyMap<string, number>;
  /** Nodes in the topological order of forward edges: by their places. */
  readonly order: readonly number[];
  readonly channels: ChannelTable;
  /** The content of an outputs block, in the order of the plan's channels. */
  readonly labelled: readonly LabelledChannel[];
  /** A -1 for each node: initial counts of runs, where -1 means that the node was not reached yet. */
  readonly untouched: readonly number[];
  /** Maximum causal depth. */
  readonly maxSteps: number;
}

/** A node prepared for running. */
export interface CompiledNode {
  readonly index: number;
  readonly node: PlanNode;
  readonly id: string;
  /** Notation of its plan, for the words in messages. */
  readonly notation: string | undefined;
  /** Position in the topological order of forward edges. */
  readonly place: number;
  /** Hops from the node, by ascending target (E9). */
  readonly hops: readonly Hop[];
  readonly routes: readonly CompiledRoute[];
  /** Number of forward in-edges, each a queue (E1). */
  readonly slots: number;
  /** Source node of each slot. */
  readonly sources: readonly number[];
  readonly join: 'all' | 'any' | 'each' | 'settled' | 'quorum';
  /** Number of live tokens that `any` and `quorum` need. */
  readonly need: number;
  readonly exit: boolean;
  /** Whether its function's result may choose the next node (E3). */
  readonly jumps: boolean;
  /** Channel of the whole result; -1 if the result is an update. */
  readonly output: number;
  readonly writes: ReadonlySet<string> | undefined;
  /** Finds out about an interrupted execution of a task. */
  readonly probe: ProbeFunction | undefined;
  /** Function of a task, or of a wait with a computed duration. */
  readonly body: TaskFunction | undefined;
  /** The agent's functions that are tools, by tool name. */
  readonly tools: Bindings | undefined;
  /** The agent's functions that check its texts, by name. */
  readonly checks: Bindings | undefined;
  /** The function that guides an agent. */
  readonly guide: GuideOf | undefined;
  readonly until: StateFunction | undefined;
  /** The layers around its body; undefined if there are none. */
  readonly policies: Policies | undefined;
  readonly sub: CompiledPlan | undefined;
  /** Whether it does work itself, and so uses a slot of `concurrency` (E5). */
  readonly leaf: boolean;
  /** Whether it counts as something that ran: it does not only contain other nodes or mark a place. */
  readonly counted: boolean;
  /** Whether its plan continues after its failure. If so, what decides the failure also decides where the plan continues. */
  readonly survives: boolean;
  readonly onErrorTo: number;
  readonly onMaxVisitsTo: number;
  /** Nodes with a cap whose visit counts restart when this one runs. */
  readonly countsAnew: readonly number[];
}

/** One hop from a node to another. */
export interface Hop {
  readonly to: number;
  /** Id of the target. */
  readonly name: string;
  /** Index of the target's in-edge; -1 if the token fires the target directly (it closes a cycle, E3). */
  readonly slot: number;
  /** Index of the node's route; -1 for a static edge. */
  readonly route: number;
  /** True if the target shares no cycle with the node; see Scope for the effect on dead tokens. */
  readonly leaves: boolean;
}

/** A route prepared for running. */
export interface CompiledRoute {
  readonly route: Route;
  readonly choose: StateFunction | undefined;
  /** Hops to its targets, by name. */
  readonly hops: ReadonlyMap<string, Hop>;
  /** True if it declares no targets: any other node may be chosen, too. */
  readonly open: boolean;
}

/** The body of a code node. The state is a read-only view. */
export type TaskFunction = (state: Readonly<Record<string, unknown>>, step: unknown) => unknown;

/** A function of the state: choosers, conditions. */
export type StateFunction = (state: Readonly<Record<string, unknown>>, round?: number) => unknown;

/**
 * Prepares a plan for running. The plan must have no problems (see `checkPlan`).
 *
 * @throws SkeinError `SKEIN_NO_BINDING` if a code node, chooser, condition or reducer has no function.
 * @example
 * const compiled = compile(plan, bindings); // once
 * for (const topic of topics) startRun(compiled, { inputs: { topic } });
 */
export function compile(plan: Plan, bindings: Bindings = {}): CompiledPlan {
  return compilePlan(plan, bindings, { prefix: '', given: [], require: undefined, survived: false });
}

interface Standing {
  readonly prefix: string;
  /** Names of the values that the surrounding node passes to it. */
  readonly given: readonly string[];
  readonly require: Require | undefined;
  readonly survived: boolean;
}

function compilePlan(plan: Plan, bindings: Bindings, standing: Standing): CompiledPlan {
  const { prefix, given, require, survived } = standing;
  const shape = analyzeShape(plan);
  const channels = tableOf(plan, bindings, prefix, given);
  const slots = assignSlots(shape);
  const graph = { plan, shape, slots, cycles: findCycles(shape) };
  const places = placesIn(shape.order);
  const exits = new Set(plan.exits);
  const fn = (key: string): unknown => bindings[prefix + key];
  const routesFrom = groupRoutes(plan);
  const nodes = plan.nodes.map((node, at): CompiledNode => {
    const routes = routesFrom.get(node.id) ?? [];
    const hops = hopsOf(graph, at, routes);
    return {
      index: at,
      node,
      id: node.id,
      place: places[at] ?? 0,
      hops,
      routes: compileRoutes(routes, hops, fn),
      slots: slots.sources[at]?.length ?? 0,
      sources: slots.sources[at] ?? [],
      ...joinOf(node),
      exit: exits.has(node.id),
      jumps: node.kind === 'task' && routes.some((route) => route.choose === 'result'),
      notation: plan.notation,
      output: node.output === undefined ? -1 : (channels.index.get(node.output) ?? -1),
      writes: writesOf(node),
      body: runsFunction(node) ? (boundFunction(fn(node.id), prefix + node.id) as TaskFunction) : undefined,
      tools: node.kind === 'agent' ? toolsOf(node, fn, prefix) : undefined,
      checks: node.kind === 'agent' ? checksOf(node, fn, prefix) : undefined,
      guide: node.kind === 'agent' ? guideOf(node, fn, prefix) : undefined,
      until: node.kind === 'loop' ? (untilOf(node, fn, prefix) as StateFunction | undefined) : undefined,
      probe: probeOf(node, fn, prefix),
      policies: policiesOf(node, boundTo(fn, prefix)),
      sub: 'plan' in node ? compilePlan(node.plan, bindings, standingOf(node, standing)) : undefined,
      leaf: node.kind === 'task' || node.kind === 'agent',
      counted: isCounted(node),
      survives: require !== undefined || survivesFailure(node),
      onErrorTo: targetOf(node.onError, shape),
      onMaxVisitsTo: targetOf(node.onMaxVisits, shape),
      countsAnew: countedAnew(plan.nodes, at),
    };
  });
  return withClosing(shape, {
    plan,
    bindings,
    require,
    survived,
    prefix,
    nodes,
    starts: shape.starts,
    index: shape.index,
    order: shape.order,
    channels,
    labelled: plan.channels.flatMap(({ name, label }) => (label === undefined ? [] : [{ channel: name, label }])),
    untouched: plan.nodes.map(() => -1),
    maxSteps: maxStepsOf(plan, shape),
  });
}

function withClosing(shape: GraphShape, compiled: Omit<CompiledPlan, 'closing'>): CompiledPlan {
  const last = shape.index.get(compiled.plan.finally ?? '');
  return { ...compiled, closing: last === undefined ? undefined : closingOf(compiled, last) };
}

/** Only its `finally` node starts; the plan's declared output was checked before. */
function closingOf(compiled: Omit<CompiledPlan, 'closing'>, last: number): CompiledPlan {
  const { output: _output, finally: _finally, ...plan } = compiled.plan;
  return { ...compiled, plan, require: undefined, closing: undefined, starts: [last] };
}

function groupRoutes(plan: Plan): ReadonlyMap<string, Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of plan.routes) addTo(groups, route.from, route);
  return groups;
}

function isCounted(node: PlanNode): boolean {
  return !('plan' in node) && node.kind !== 'pass' && node.kind !== 'end' && node.kind !== 'set';
}

function targetOf(target: unknown, shape: GraphShape): number {
  if (typeof target !== 'object' || target === null || !('to' in target)) return -1;
  return shape.index.get(String(target.to)) ?? -1;
}

function joinOf(node: PlanNode): { join: CompiledNode['join']; need: number } {
  const { join } = node;
  if (typeof join === 'object') return { join: 'quorum', need: join.quorum };
  return { join: join ?? 'all', need: 1 };
}

function compileRoutes(routes: readonly Route[], hops: readonly Hop[], fn: (key: string) => unknown): CompiledRoute[] {
  const byRoute = routes.map(() => new Map<string, Hop>());
  for (const hop of hops) byRoute[hop.route]?.set(hop.name, hop);
  return routes.map((route, at): CompiledRoute => {
    const key = `route:${route.from}`;
    return {
      route,
      choose: route.choose === 'code' ? (boundFunction(fn(key), key) as StateFunction) : undefined,
      hops: byRoute[at] ?? NO_HOPS,
      open: routeTargets(route) === undefined,
    };
  });
}

const NO_HOPS: ReadonlyMap<string, Hop> = new Map();

interface Slots {
  /** Slot of each edge; -1 for edges whose tokens fire directly. */
  readonly byEdge: readonly number[];
  readonly sources: readonly (readonly number[])[];
}

/** Forward in-edges of a node are its slots, by ascending source, static edges before routes. */
function assignSlots(shape: GraphShape): Slots {
  const byEdge = shape.edges.map(() => -1);
  const sources = shape.inEdges.map((edges) => {
    const forward = edges
      .filter((at) => shape.edges[at]?.closesCycle === false && shape.edges[at]?.kind !== 'handler')
      .toSorted((a, b) => (shape.edges[a]?.from ?? 0) - (shape.edges[b]?.from ?? 0) || a - b);
    forward.forEach((at, slot) => {
      byEdge[at] = slot;
    });
    return forward.map((at) => shape.edges[at]?.from ?? 0);
  });
  return { byEdge, sources };
}

/** Facts about the whole graph that the hops of a node need. */
interface Graph {
  readonly plan: Plan;
  readonly shape: GraphShape;
  readonly slots: Slots;
  readonly cycles: readonly number[];
}

function hopsOf(graph: Graph, node: number, routes: readonly Route[]): Hop[] {
  const { plan, shape, slots, cycles } = graph;
  const hops: Hop[] = [];
  const placeOf = new Map(routes.map((route, at) => [route, at]));
  for (const at of shape.outEdges[node] ?? []) {
    const edge = shape.edges[at];
    if (edge === undefined || edge.kind === 'handler') continue;
    const route = edge.kind === 'static' ? -1 : (placeOf.get(plan.routes[edge.route] as Route) ?? -1);
    hops.push({
      to: edge.to,
      name: plan.nodes[edge.to]?.id ?? '',
      slot: slots.byEdge[at] ?? -1,
      route,
      leaves: cycles[node] !== cycles[edge.to],
    });
  }
  return hops.toSorted((a, b) => a.to - b.to);
}

/** The channels of a conversation and of fields need no second declaration. */
function writesOf(node: PlanNode): CompiledNode['writes'] {
  if (node.writes === undefined) return undefined;
  const talk = node.kind === 'agent' && node.conversation !== undefined ? [node.conversation.channel] : [];
  return new Set([
    ...node.writes,
    ...(node.ending === undefined ? [] : [node.ending]),
    ...talk,
    ...fieldChannels(node),
  ]);
}

function standingOf(node: Extract<PlanNode, { readonly plan: Plan }>, around: Standing): Standing {
  const require = node.kind === 'call' ? node.require : undefined;
  const allowsItems = node.kind === 'map' && (node.require !== undefined || (node.onItemError ?? 'fail') !== 'fail');
  const survived = around.survived || around.require !== undefined || survivesFailure(node) || allowsItems;
  return { prefix: `${around.prefix}${node.id}/`, given: givenBy(node), require, survived };
}

/** Whether the plan of a node continues after the node's failure. */
function survivesFailure({ onError }: PlanNode): boolean {
  return onError !== undefined && onError !== 'fail';
}

function placesIn(order: readonly number[]): readonly number[] {
  const places: number[] = order.map(() => 0);
  order.forEach((node, place) => {
    places[node] = place;
  });
  return places;
}
