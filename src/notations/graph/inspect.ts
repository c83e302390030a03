import { toDot, toMermaid } from '../../plan/draw.js';
import { analyzeShape, type GraphShape } from '../../plan/graph-shape.js';
import { outlinePlan } from '../../plan/outline.js';
import type { Plan } from '../../plan/plan.js';
import { nodesById } from '../../plan/nodes.js';
import { reachedFrom } from '../../plan/reach.js';
import type { BuiltGraph } from './build.js';
import type { GraphDraft } from './draft.js';
import { isNodeSpec } from './nodes/planned.js';

/** Returns where a run may end: the declared exits, or the reachable nodes without a way out. */
export function exitsOf(plan: Plan): readonly string[] {
  if (plan.exits !== undefined) return plan.exits;
  const shape = analyzeShape(plan);
  const canRun = reachable(shape);
  const choosing = new Set(plan.routes.map((route) => route.from));
  return plan.nodes.flatMap(({ id }, at) => {
    const isLast = shape.outEdges[at]?.every((edge) => shape.edges[edge]?.kind === 'handler') ?? true;
    return isLast && id !== plan.finally && !choosing.has(id) && canRun(at) ? [id] : [];
  });
}

/** Returns a function that tells whether any path leads to a node. A route without declared targets may lead anywhere. */
function reachable(shape: GraphShape): (node: number) => boolean {
  const reached = reachedFrom(shape, shape.starts);
  const isOpen = shape.openRoutes.some((node) => reached.has(node));
  return (node) => isOpen || reached.has(node);
}

export interface GraphEnds {
  readonly answerKey: string | undefined;
  /** In the order of the nodes. */
  readonly exits: readonly string[];
}

export function endsOf(draft: GraphDraft, plan: Plan): GraphEnds {
  const found = new Set(exitsOf(plan));
  const exits = plan.nodes.flatMap(({ id }) => (found.has(id) ? [id] : []));
  return { answerKey: answerKeyOf(draft, plan, exits), exits };
}

function answerKeyOf({ settings }: GraphDraft, plan: Plan, exits: readonly string[]): string | undefined {
  if (settings.answerKey !== undefined) return settings.answerKey;
  if (plan.output?.length === 1) return plan.output[0];
  const [exit, ...others] = exits;
  if (exit === undefined || others.length > 0) return undefined;
  const key = nodesById(plan).get(exit)?.output ?? exit;
  return plan.output?.includes(key) === false ? undefined : key;
}

/** Returns what would run, and which inputs are required. It calls no function. */
export function dryRunOf({ plan }: BuiltGraph, given: Readonly<Record<string, unknown>>): DryRun {
  const { levels, conditional, required } = outlinePlan(plan);
  const onlySometimes = new Set(conditional);
  const shape = analyzeShape(plan);
  const canRun = reachable(shape);
  return {
    levels: levels.map((level) => level.filter((id) => !onlySometimes.has(id))).filter((level) => level.length > 0),
    conditionalNodes: conditional.filter((id) => canRun(shape.index.get(id) ?? -1)),
    entry: plan.entry,
    exits: [...exitsOf(plan)],
    inputsRequired: required.map((input) => input.name).filter((name) => given[name] === undefined),
  };
}

/** Draws the graph in a diagram language, with nodes without a way out marked as exits. */
export function draw(plan: Plan, language: 'mermaid' | 'dot'): string {
  const drawn = { ...plan, exits: exitsOf(plan) };
  return language === 'mermaid' ? toMermaid(drawn) : toDot(drawn);
}

export function nodeViews(draft: GraphDraft): Map<string, GraphNode> {
  return new Map(
    [...draft.nodes.values()].map(({ name, layer, body, options }) => {
      const view = { name, layer, options: { ...options } };
      return [name, isNodeSpec(body) ? view : { ...view, fn: body }] as const;
    }),
  );
}

/** Returns copies of the edges, the inferred ones last. */
export function edgeViews(draft: GraphDraft, { inference }: BuiltGraph): EdgeView[] {
  return [
    ...[...draft.edges.values()].map((edge) => ({ ...edge, inferred: false })),
    ...inference.edges.map((edge) => ({ ...edge, inferred: true })),
  ];
}

export function routeViews(draft: GraphDraft): RouteView[] {
  return [...draft.routes.values()].map(({ from, router, map, targets }) => ({
    from,
    router,
    ...(map === undefined ? {} : { map: { ...map } }),
    ...(targets === undefined ? {} : { targets: [...targets] }),
  }));
}

/** Returns the keys of the state: the declared ones, or else the results of nodes and the inputs. */
export function stateKeys(draft: GraphDraft, { plan }: BuiltGraph): Record<string, StateKey> {
  const { state } = draft.settings;
  const keys = new Map<string, StateKey>();
  if (state !== undefined)
    for (const [name, schema] of Object.entries(state)) keys.set(name, { from: 'declared', schema });
  else {
    for (const node of plan.nodes)
      for (const name of [node.output ?? [], node.writes ?? []].flat()) keys.set(name, { from: 'node' });
    for (const input of plan.inputs) if (!keys.has(input.name)) keys.set(input.name, { from: 'input' });
  }
  return Object.fromEntries(keys);
}

/** A view of a node. */
export interface GraphNode {
  readonly name: string;
  /** `node`: its result is stored under its name. `update`: it returns an update of the state. */
  readonly layer: 'node' | 'update';
  /** The function. Undefined for agents, tools and workflows. */
  readonly fn?: unknown;
  /** The options passed when the node was added. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** An edge that always fires. */
export interface EdgeView {
  readonly from: string;
  readonly to: string;
  /** True if the edge was inferred from a parameter. */
  readonly inferred: boolean;
}

/** A route after a node. */
export interface RouteView {
  readonly from: string;
  readonly router: unknown;
  readonly map?: Readonly<Record<string, string>>;
  readonly targets?: readonly string[];
}

/** A key of the state. */
export interface StateKey {
  /** Its origin: declared with a schema, the result of a node, or an input from the caller. */
  readonly from: 'declared' | 'node' | 'input';
  /** The Standard Schema it was declared with. */
  readonly schema?: unknown;
}

/** What a run would do, as far as that is known in advance. */
export interface DryRun {
  /** Names by level, without nodes that run only if a route leads to them. */
  readonly levels: readonly (readonly string[])[];
  /** Nodes that run only if a route or a failure leads to them. */
  readonly conditionalNodes: readonly string[];
  readonly entry: string | undefined;
  readonly exits: readonly string[];
  /** Inputs that are still missing. */
  readonly inputsRequired: readonly string[];
}
