import { addTo, madeOnce } from '../base/collections.js';
import { dominatorsFrom } from './dominance.js';
import { nameOf, type Scope } from './check-scope.js';
import type { Writers } from './check-references.js';
import { forEachReach, leadsTo, reachedFrom } from './reach.js';
import type { GraphShape } from './graph-shape.js';
import type { Plan, Route } from './plan.js';

/** Pairs of one channel that are compared before the check stops; the engine finds the rest at the merge (S3). */
const MOST_PAIRS = 20_000;

/**
 * `unordered-writers`: two nodes write a channel without a reducer, and neither runs before the other (S3). Branches that exclude each
 * other are fine, and so are plans in which one node runs at a time. A warning where a condition or an early join may keep one of them out.
 */
export function checkWriters(scope: Scope, writers: Writers): void {
  const { plan, shape } = scope;
  if (shape.openRoutes.length > 0) return;
  const places = new Uint32Array(plan.nodes.length);
  shape.order.forEach((node, place) => {
    places[node] = place;
  });
  const placeOf = (node: number): number => places[node] ?? 0;
  const contested: [string, readonly number[]][] = [];
  for (const [name, nodes] of writers.byChannel) {
    if (nodes.length < 2 || scope.channels.get(name)?.reducer !== undefined) continue;
    const ordered = nodes.toSorted((a, b) => placeOf(a) - placeOf(b));
    // Most channels are written along one path: then each writer leads to the next.
    const inLine = ordered.every((node, at) => at === 0 || leadsTo(shape, places, ordered[at - 1] ?? node, node));
    if (!inLine) contested.push([name, ordered]);
  }
  if (contested.length > 0 && !runsOneAtATime(plan, shape)) compareAll(scope, contested, placeOf);
}

/** Each node leads to one other at most, as in a state machine: then all writes have an order, whichever way the run takes. */
function runsOneAtATime(plan: Plan, { starts, outEdges, edges }: GraphShape): boolean {
  if (starts.length > 1 || plan.finally !== undefined) return false;
  return outEdges.every((out) => {
    const [first, ...more] = out.flatMap((at) => edges[at] ?? []).filter(({ kind }) => kind !== 'handler');
    const route = plan.routes[first?.route ?? -1];
    if (route === undefined) return more.length === 0;
    return more.every((edge) => edge.route === first?.route) && chosenTogether(route).length === 0;
  });
}

function compareAll(
  scope: Scope,
  contested: readonly [string, readonly number[]][],
  placeOf: (node: number) => number,
): void {
  const search: Search = { scope, reported: new Set(), pairs: new Map(), placeOf };
  const channelsOf = new Map<number, [string, readonly number[]][]>();
  for (const [name, nodes] of contested) for (const node of nodes) addTo(channelsOf, node, [name, nodes]);
  forEachReach(scope.shape, [...channelsOf.keys()], false, (batch, masks) => {
    batch.forEach((source, bit) => {
      for (const [name, nodes] of channelsOf.get(source) ?? [])
        comparePairs(search, name, nodes, { source, bit, masks });
    });
    return search.reported.size < contested.length;
  });
}

interface Search {
  readonly scope: Scope;
  readonly reported: Set<string>;
  readonly pairs: Map<string, number>;
  exclusion?: Exclusion;
  readonly placeOf: (node: number) => number;
}

/** Finds a later writer of the channel that the source does not lead to. */
function comparePairs(
  search: Search,
  name: string,
  nodes: readonly number[],
  reach: { readonly source: number; readonly bit: number; readonly masks: Uint32Array },
): void {
  if (search.reported.has(name) || (search.pairs.get(name) ?? 0) > MOST_PAIRS) return;
  const from = search.placeOf(reach.source);
  for (const node of nodes) {
    if (search.placeOf(node) <= from) continue;
    if (((reach.masks[node] ?? 0) >>> reach.bit) & 1) continue;
    const pairs = (search.pairs.get(name) ?? 0) + 1;
    search.pairs.set(name, pairs);
    if (pairs > MOST_PAIRS) return;
    search.exclusion ??= findExclusion(search.scope.plan, search.scope.shape);
    if (search.exclusion.areExclusive(reach.source, node)) continue;
    search.reported.add(name);
    report(search.scope, name, reach.source, node);
    return;
  }
}

function report(scope: Scope, name: string, a: number, b: number): void {
  const first = Math.min(a, b);
  const second = Math.max(a, b);
  const isConditional = [a, b].some((node) => scope.plan.nodes[node]?.when !== undefined);
  const severity = isConditional || meetEarly(scope, a, b) ? 'warning' : 'error';
  const message = `${nameOf(scope, first)} and ${nameOf(scope, second)} both write ${JSON.stringify(name)}, and neither runs before the other`;
  const hint = 'give the channel a reducer, write two channels, or add an edge between them';
  scope.findings.add('unordered-writers', message, { node: second, hint, severity });
}

/** Returns whether both lead to a join that continues with the first of its branches. */
function meetEarly(scope: Scope, a: number, b: number): boolean {
  const { plan, shape } = scope;
  const early = plan.nodes.flatMap((node, at) => (node.join === 'any' || typeof node.join === 'object' ? [at] : []));
  if (early.length === 0) return false;
  const fromA = reachedFrom(shape, [a]);
  const fromB = reachedFrom(shape, [b]);
  return early.some((node) => fromA.has(node) && fromB.has(node));
}

/** Decides which nodes never run in the same visit: different targets of one choice, and what lies behind them. */
export interface Exclusion {
  areExclusive(a: number, b: number): boolean;
}

/**
 * Finds exclusive branches by dominators: a node lies behind an edge if every forward path to it takes that edge. Two targets of one route
 * exclude each other unless a case names both; a handler excludes everything else behind its node.
 */
export function findExclusion(plan: Plan, shape: GraphShape): Exclusion {
  const parting = partings(plan, shape);
  const together = new Map<number, readonly ReadonlySet<string>[]>();
  return {
    areExclusive(a, b) {
      const [one, other] = parting(a, b).map((vertex = -1) => shape.edges[vertex - plan.nodes.length]);
      if (one === undefined || other === undefined || one.from !== other.from) return false;
      if (one.kind === 'handler' || other.kind === 'handler') return true;
      if (one.kind !== 'route' || one.route !== other.route) return false;
      const route = plan.routes[one.route];
      if (route === undefined) return false;
      const sets = madeOnce(together, one.route, () => chosenTogether(route));
      const left = plan.nodes[one.to]?.id ?? '';
      const right = plan.nodes[other.to]?.id ?? '';
      return !sets.some((set) => set.has(left) && set.has(right));
    },
  };
}

function chosenTogether(route: Route): readonly ReadonlySet<string>[] {
  const groups = [...(route.cases ?? []).map((branch) => branch.to), route.otherwise ?? []];
  return groups.filter((group) => group.length > 1).map((group) => new Set(group));
}

/**
 * Returns the children of the last dominator that two nodes share, each on the way to one of them; undefined if one dominates the other.
 * Choices are vertices too: edge number e is vertex `nodes + e`. Edges that close a cycle do not count: their targets have run before.
 */
function partings({ nodes }: Plan, { edges, inEdges, outEdges, starts }: GraphShape) {
  const root = nodes.length + edges.length;
  const hasHandler = new Set(edges.flatMap(({ kind, from }) => (kind === 'handler' ? [from] : [])));
  const started = new Set(starts);
  const leadsOn = (at: number): boolean => edges[at]?.closesCycle === false;
  const first = nodes.flatMap((_, node) => (started.has(node) || !inEdges[node]?.some(leadsOn) ? [node] : []));
  const tree = dominatorsFrom(root, (vertex) => {
    if (vertex === root) return first;
    if (vertex >= nodes.length) return [edges[vertex - nodes.length]?.to ?? root];
    const isChoice = (at: number): boolean => edges[at]?.kind !== 'static' || hasHandler.has(vertex);
    return (outEdges[vertex] ?? [])
      .filter(leadsOn)
      .map((at) => (isChoice(at) ? nodes.length + at : (edges[at]?.to ?? root)));
  });
  return (a: number, b: number) => {
    const shared = tree.shared(a, b);
    return [a, b].map((node) => {
      let at: number | undefined = node;
      while (at !== undefined && at !== shared && tree.above(at) !== shared) at = tree.above(at);
      return at === shared ? undefined : at;
    });
  };
}
