import type { Plan, Route } from '../../../src/plan/plan.js';

/** An edge as the interpreter sees it: static edges and declared route targets are one list. */
export interface ShapeEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: 'static' | 'route';
  /** It closes a cycle: never dead, never part of a join (E3). */
  readonly closing: boolean;
}

/** What can be known about a plan before it runs. */
export interface Shape {
  readonly edges: readonly ShapeEdge[];
  /** Nodes that start by themselves, in plan order (E6). */
  readonly starts: readonly string[];
  /** Plan order of each node. */
  readonly order: ReadonlyMap<string, number>;
  /** Topological order of the forward edges, ties by plan order. */
  readonly topo: ReadonlyMap<string, number>;
  /** Longest path over forward edges, in nodes. */
  readonly longestPath: number;
}

type BareEdge = Omit<ShapeEdge, 'closing'>;

/** The nodes that a route may choose, in declared order, without END; undefined when it may choose any. */
export function declaredTargets(route: Route): readonly string[] | undefined {
  let names: readonly string[] | undefined = route.targets;
  if (names === undefined && route.cases !== undefined) {
    names = [...route.cases.flatMap((item) => item.to), ...(route.otherwise ?? [])];
  }
  if (names === undefined && route.map !== undefined) names = Object.values(route.map);
  return names === undefined ? undefined : [...new Set(names)].filter((name) => name !== 'END');
}

/** The targets that are known: declared, or named in the source of what chooses, where any other node may be chosen too (E6). */
export function knownTargets(route: Route): readonly string[] {
  return declaredTargets(route) ?? route.mentions ?? [];
}

/** Works the shape of a plan out in the most literal way. */
export function shapeOf(plan: Plan): Shape {
  const order = new Map(plan.nodes.map((node, index) => [node.id, index]));
  const bare: BareEdge[] = [];
  plan.edges.forEach((edge, index) => bare.push({ id: `static:${index}`, ...edge, kind: 'static' }));
  plan.routes.forEach((route, index) => {
    for (const to of knownTargets(route)) {
      bare.push({ id: `route:${index}:${to}`, from: route.from, to, kind: 'route' });
    }
  });
  const starts = startsOf(plan, bare);
  const closing = closingEdges(plan, bare, starts);
  const rank = (edge: BareEdge): number => (order.get(edge.from) ?? 0) * 2 + (edge.kind === 'static' ? 0 : 1);
  const edges = bare
    .map((edge) => ({ ...edge, closing: closing.has(edge.id) }))
    .toSorted((left, right) => rank(left) - rank(right));
  const forward = edges.filter((edge) => !edge.closing);
  return { edges, starts, order, topo: topoOf(plan, forward), longestPath: longestPathOf(plan, forward) };
}

/** E6. A node that only failures or exceeded visits lead to does not start by itself. */
function startsOf(plan: Plan, edges: readonly BareEdge[]): string[] {
  const called = new Set(plan.finally === undefined ? [] : [plan.finally]);
  for (const node of plan.nodes) {
    if (typeof node.onError === 'object') called.add(node.onError.to);
    if (typeof node.onMaxVisits === 'object' && 'to' in node.onMaxVisits) called.add(node.onMaxVisits.to);
  }
  const rootless = plan.nodes
    .map((node) => node.id)
    .filter((id) => !called.has(id) && !edges.some((edge) => edge.to === id));
  const entry = plan.entry;
  if (entry === undefined) return rootless;
  const fixed = edges.filter((edge) => edge.kind === 'static');
  const starts = new Set([entry]);
  // What starts makes more nodes reachable, which may depend on more: again until nothing is added.
  for (let before = 0; before < starts.size;) {
    before = starts.size;
    const reachable = reachableFrom([...starts], edges);
    for (const id of rootless) if ([...reachableFrom([id], fixed)].some((node) => reachable.has(node))) starts.add(id);
  }
  return plan.nodes.map((node) => node.id).filter((id) => starts.has(id));
}

function reachableFrom(from: readonly string[], edges: readonly BareEdge[]): Set<string> {
  const seen = new Set(from);
  for (const id of seen) for (const edge of edges) if (edge.from === id) seen.add(edge.to);
  return seen;
}

/** Depth-first from the starts, then from what is left, in plan order; static edges before routes. */
function closingEdges(plan: Plan, edges: readonly BareEdge[], starts: readonly string[]): Set<string> {
  const closing = new Set<string>();
  const stack: string[] = [];
  const seen = new Set<string>();
  const visit = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    stack.push(id);
    for (const kind of ['static', 'route'] as const) {
      for (const edge of edges.filter((one) => one.from === id && one.kind === kind)) {
        if (stack.includes(edge.to)) closing.add(edge.id);
        else visit(edge.to);
      }
    }
    stack.pop();
  };
  // What leads back to the entry closes a cycle, whatever else starts.
  if (plan.entry !== undefined) visit(plan.entry);
  for (const id of starts) visit(id);
  for (const node of plan.nodes) visit(node.id);
  return corrected({ plan, edges, closing }, orderOfRuns(plan, edges, starts, [...seen]));
}

/** A static edge does not lead back to what need not have run before: there, the cycle is closed by what leads back in the order of runs. */
function corrected(
  { plan, edges, closing }: { plan: Plan; edges: readonly BareEdge[]; closing: Set<string> },
  order: readonly string[],
): Set<string> {
  const isBefore = ({ from, to }: BareEdge): boolean => order.indexOf(from) < order.indexOf(to);
  const isWrong = (edge: BareEdge): boolean =>
    closing.has(edge.id) && edge.kind === 'static' && edge.to !== plan.entry && isBefore(edge);
  const wrong = edges.filter(isWrong);
  const around = (id: string, other: string): boolean =>
    reachableFrom([id], edges).has(other) && reachableFrom([other], edges).has(id);
  const again = edges.filter(({ from, to }) => around(from, to) && wrong.some((edge) => around(edge.from, from)));
  const kept = [...closing].filter((id) => !again.some((edge) => edge.id === id));
  const left = new Set([...kept, ...again.filter((edge) => !isBefore(edge)).map(({ id }) => id)]);
  // What leads back is forwards all the same if no way leads from its end to its beginning.
  for (const id of order) {
    const forward = edges.filter((edge) => !left.has(edge.id));
    for (const edge of again)
      if (edge.from === id && left.has(edge.id) && !reachableFrom([edge.to], forward).has(id)) left.delete(edge.id);
  }
  return left;
}

/** One after the other: the first in plan order that can run, or else the first that the search came to. */
function orderOfRuns(
  plan: Plan,
  edges: readonly BareEdge[],
  starts: readonly string[],
  searched: readonly string[],
): readonly string[] {
  const order: string[] = [];
  const first = new Set([...(plan.entry === undefined ? [] : [plan.entry]), ...starts]);
  const canRun = (id: string): boolean => {
    const into = edges.filter((edge) => edge.to === id);
    const isReached = into.some((edge) => order.includes(edge.from));
    const isReady = id === plan.entry || into.every((edge) => edge.kind !== 'static' || order.includes(edge.from));
    return first.has(id) || (isReached && isReady);
  };
  while (order.length < plan.nodes.length) {
    const left = plan.nodes.map((node) => node.id).filter((id) => !order.includes(id));
    order.push(left.find((id) => canRun(id)) ?? searched.find((id) => left.includes(id)) ?? '');
  }
  return order;
}

function topoOf(plan: Plan, forward: readonly ShapeEdge[]): Map<string, number> {
  const topo = new Map<string, number>();
  while (topo.size < plan.nodes.length) {
    const next = plan.nodes.find(
      (node) => !topo.has(node.id) && forward.every((edge) => edge.to !== node.id || topo.has(edge.from)),
    );
    if (next === undefined) throw new Error('forward edges form a cycle');
    topo.set(next.id, topo.size);
  }
  return topo;
}

function longestPathOf(plan: Plan, forward: readonly ShapeEdge[]): number {
  const length = (id: string): number =>
    1 + Math.max(0, ...forward.filter((edge) => edge.to === id).map((edge) => length(edge.from)));
  return Math.max(0, ...plan.nodes.map((node) => length(node.id)));
}
