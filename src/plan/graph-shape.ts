import { MinHeap } from '../base/collections.js';
import { markCycles } from './cycles.js';
import { END, type Plan, type Route } from './plan.js';

/**
 * Why a token may travel along an edge: `static` edges always fire; a `route` edge fires when the route chooses it; a
 * `handler` edge leads to the node named by `onError` or `onMaxVisits`.
 */
export type ShapeEdgeKind = 'static' | 'route' | 'handler';

export interface ShapeEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: ShapeEdgeKind;
  /** Index into `plan.routes`; -1 for the other kinds. */
  readonly route: number;
  /** Whether the edge leads back to a node that must have run before (E3). */
  readonly closesCycle: boolean;
}

/** The graph of a plan by node index, the index into `plan.nodes`. Everything here is in plan order. */
export interface GraphShape {
  /** Index of each id. If several nodes share an id (a problem), the first counts. */
  readonly index: ReadonlyMap<string, number>;
  /** Static edges, then route targets as declared or mentioned, then handlers. Edges of unknown nodes are left out. */
  readonly edges: readonly ShapeEdge[];
  /** Indexes into `edges`, per node. */
  readonly outEdges: readonly (readonly number[])[];
  readonly inEdges: readonly (readonly number[])[];
  /** Nodes with a route without declared targets, which may choose any node. */
  readonly openRoutes: readonly number[];
  /** Nodes that start a run (E6); never a possible target of a route. */
  readonly starts: readonly number[];
  /** All nodes, ordered so that only edges that close a cycle lead backwards; ties in plan order. */
  readonly order: readonly number[];
  /** Number of nodes on the longest path without edges that close a cycle. */
  readonly longestPath: number;
}

/** Shapes of frozen plans. */
const known = new WeakMap<Plan, GraphShape>();

/**
 * Returns the graph of a plan, for checks, outline, costs and compilation. The graph of a frozen plan, as `definePlan` and files produce,
 * is computed once per process. A broken plan has a shape too: unknown parts are left out.
 */
export function analyzeShape(plan: Plan): GraphShape {
  const shape = known.get(plan) ?? shapeOf(plan);
  if (Object.isFrozen(plan)) known.set(plan, shape);
  return shape;
}

/** Iterative, and linear in the size of the plan if the nodes are declared in an order in which they can run. */
function shapeOf(plan: Plan): GraphShape {
  const index = new Map<string, number>();
  plan.nodes.forEach((node, at) => {
    if (!index.has(node.id)) index.set(node.id, at);
  });
  const edges = collectEdges(plan, index);
  const outEdges: number[][] = plan.nodes.map(() => []);
  const inEdges: number[][] = plan.nodes.map(() => []);
  edges.forEach((edge, at) => {
    outEdges[edge.from]?.push(at);
    inEdges[edge.to]?.push(at);
  });
  const openRoutes: number[] = [];
  for (const route of plan.routes) {
    const from = index.get(route.from);
    if (from !== undefined && routeTargets(route) === undefined) openRoutes.push(from);
  }
  const starts = findStarts(plan, index, edges, outEdges, inEdges);
  const entry = plan.entry === undefined ? undefined : index.get(plan.entry);
  markCycles({ edges, outEdges, inEdges }, starts, entry);
  const order = sortForward(edges, outEdges);
  return { index, edges, outEdges, inEdges, openRoutes, starts, order, longestPath: measure(edges, outEdges, order) };
}

/** Returns the nodes that a route may choose, without {@link END} and repetitions. Undefined: it names none, and may choose any. */
export function routeTargets(route: Route): readonly string[] | undefined {
  if (route.targets === undefined && route.map === undefined && route.cases === undefined) return undefined;
  const targets = new Set<string>(route.targets);
  if (route.map !== undefined) for (const answer of Object.keys(route.map)) targets.add(route.map[answer] ?? END);
  for (const branch of route.cases ?? []) for (const target of branch.to) targets.add(target);
  for (const target of route.otherwise ?? []) targets.add(target);
  targets.delete(END);
  return [...targets];
}

type MutableEdge = { -readonly [K in keyof ShapeEdge]: ShapeEdge[K] };

function collectEdges(plan: Plan, index: ReadonlyMap<string, number>): MutableEdge[] {
  const edges: MutableEdge[] = [];
  const add = (from: string, to: string, kind: ShapeEdgeKind, route: number): void => {
    const source = index.get(from);
    const target = index.get(to);
    if (source === undefined || target === undefined) return;
    edges.push({ from: source, to: target, kind, route, closesCycle: false });
  };
  for (const edge of plan.edges) add(edge.from, edge.to, 'static', -1);
  plan.routes.forEach((route, at) => {
    for (const target of routeTargets(route) ?? route.mentions ?? []) add(route.from, target, 'route', at);
  });
  for (const node of plan.nodes) {
    const { onError, onMaxVisits } = node;
    const onFailure = typeof onError === 'object' ? onError.to : undefined;
    const onCap = typeof onMaxVisits === 'object' && 'to' in onMaxVisits ? onMaxVisits.to : undefined;
    if (onFailure !== undefined) add(node.id, onFailure, 'handler', -1);
    if (onCap !== undefined && onCap !== onFailure) add(node.id, onCap, 'handler', -1);
  }
  return edges;
}

/**
 * E6. With an entry: the entry, and each node without in-edges on which a reachable node depends along static edges, at any distance.
 * Without an entry: each node without in-edges.
 */
function findStarts(
  plan: Plan,
  index: ReadonlyMap<string, number>,
  edges: readonly ShapeEdge[],
  outEdges: readonly (readonly number[])[],
  inEdges: readonly (readonly number[])[],
): number[] {
  const last = plan.finally === undefined ? -1 : index.get(plan.finally);
  const isRoot = (node: number): boolean => inEdges[node]?.length === 0 && node !== last;
  if (plan.entry === undefined) return plan.nodes.map((_, at) => at).filter(isRoot);
  const entry = index.get(plan.entry);
  if (entry === undefined) return [];
  const started = new Set([entry]);
  const reached = new Set([entry]);
  const depended = new Set<number>();
  const queue = [entry];
  const dependencies: number[] = [];
  const reach = (node: number): void => {
    if (reached.has(node)) return;
    reached.add(node);
    queue.push(node);
  };
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    for (const at of outEdges[node] ?? []) reach(edges[at]?.to ?? node);
    dependencies.push(node);
    for (let needed = dependencies.pop(); needed !== undefined; needed = dependencies.pop()) {
      if (depended.has(needed)) continue;
      depended.add(needed);
      if (isRoot(needed)) {
        started.add(needed);
        reach(needed);
      }
      for (const at of inEdges[needed] ?? []) {
        const edge = edges[at];
        if (edge?.kind === 'static') dependencies.push(edge.from);
      }
    }
  }
  return [...started].toSorted((a, b) => a - b);
}

function sortForward(edges: readonly ShapeEdge[], outEdges: readonly (readonly number[])[]): number[] {
  const waiting = new Uint32Array(outEdges.length);
  let declaredInOrder = true;
  for (const edge of edges) {
    if (edge.closesCycle) continue;
    waiting[edge.to] = (waiting[edge.to] ?? 0) + 1;
    if (edge.from > edge.to) declaredInOrder = false;
  }
  if (declaredInOrder) return outEdges.map((_, at) => at);
  const ready = new MinHeap((node: number) => node);
  for (let node = 0; node < outEdges.length; node += 1) if (waiting[node] === 0) ready.put(node);
  const order: number[] = [];
  for (let node = ready.take(); node !== undefined; node = ready.take()) {
    order.push(node);
    for (const at of outEdges[node] ?? []) {
      const edge = edges[at];
      if (edge === undefined || edge.closesCycle) continue;
      const left = (waiting[edge.to] ?? 0) - 1;
      waiting[edge.to] = left;
      if (left === 0) ready.put(edge.to);
    }
  }
  return order;
}

function measure(
  edges: readonly ShapeEdge[],
  outEdges: readonly (readonly number[])[],
  order: readonly number[],
): number {
  const depth = new Uint32Array(outEdges.length).fill(1);
  let longest = 0;
  for (const node of order) {
    const here = depth[node] ?? 1;
    if (here > longest) longest = here;
    for (const at of outEdges[node] ?? []) {
      const edge = edges[at];
      if (edge !== undefined && !edge.closesCycle && (depth[edge.to] ?? 1) <= here) depth[edge.to] = here + 1;
    }
  }
  return longest;
}
