import { present } from '../../base/json.js';
import { analyzeShape } from '../../plan/graph-shape.js';
import { mentionsOf } from '../../plan/glances.js';
import { END, type Edge, type Plan, type PlanNode, type Route } from '../../plan/plan.js';
import { reachedFrom } from '../../plan/reach.js';
import type { DraftNode, DraftRoute, GraphDraft } from './draft.js';
import { policiesOf } from './policies.js';

/** An edge inferred from what a node reads. `optional`: the parameter has a default. */
export interface ReadEdge extends Edge {
  readonly optional: boolean;
  /** True if the node reads how the other one ended, not its result. */
  readonly isEnding?: boolean;
}

/** Whether a node chooses what runs next: by its route, or by what it returns. */
export function chooses(draft: GraphDraft, node: DraftNode): boolean {
  return draft.routes.has(node.name) || node.options.goto !== undefined;
}

/** Returns the nodes that a route without declared targets names in its source. Empty for other routes. */
export function mentionedBy(draft: GraphDraft, { router, targets, map }: DraftRoute): readonly string[] {
  return targets === undefined && map === undefined ? mentionsOf(router, draft.nodes.keys()) : [];
}

/**
 * Separates the edges into nodes that a route may choose, and into those that take over for another node, from the others. Such a node runs
 * when it is chosen or takes over, so the edges of its reads carry only data. Exception: a node without which the choice is unreachable, such
 * as a loop's first node, must run first.
 */
export function splitChosen(
  draft: GraphDraft,
  edges: readonly ReadEdge[],
): { readonly control: readonly ReadEdge[]; readonly data: readonly ReadEdge[] } {
  const routes = choicesOf(draft);
  const leads = [
    ...routes.flatMap(({ from, targets = [] }) => targets.map((to) => ({ from, to }))),
    ...takeoversOf(draft, edges),
  ];
  const chosen = new Set(leads.map(({ to }) => to));
  let data = edges.filter(({ to }) => chosen.has(to));
  let control = edges.filter(({ to }) => !chosen.has(to));
  if (data.length === 0) return { control, data };
  const leadsOn = reachable(planOf(draft, edges, routes));
  for (;;) {
    const reached = reachedBy(planOf(draft, control, routes));
    const needed = new Set<string>();
    for (const { from, to } of data) {
      if (needed.has(to) || !reached.has(from) || reached.has(to)) continue;
      const after = leadsOn(to);
      if (leads.some((lead) => lead.to === to && after.has(lead.from))) needed.add(to);
    }
    if (needed.size === 0) break;
    const left = new Set(data.filter(({ to }) => !needed.has(to)));
    control = edges.filter((edge) => !left.has(edge));
    data = data.filter(({ to }) => !needed.has(to));
  }
  return { control, data };
}

/** Returns the possible targets of a graph's routes, as far as they are visible. */
function choicesOf(draft: GraphDraft): readonly Route[] {
  const routes: Route[] = [];
  const add = (from: string, answers: readonly unknown[]): void => {
    const targets = answers.filter((to) => typeof to === 'string' && to !== END && draft.nodes.has(to)) as string[];
    routes.push({ from, choose: 'code', targets });
  };
  for (const route of draft.routes.values()) {
    add(route.from, [...(route.targets ?? []), ...Object.values(route.map ?? {}), ...mentionedBy(draft, route)]);
  }
  for (const { name, options } of draft.nodes.values()) if (options.goto !== undefined) add(name, options.goto);
  return routes;
}

/**
 * Returns which node takes over for which other one, after a failure or its last visit. Left out: nodes that read the result of every node
 * for which they take over, or have an edge from it. Those follow a success too. To read how a node ended is what a handler does.
 */
function takeoversOf(draft: GraphDraft, edges: readonly ReadEdge[]): readonly Edge[] {
  const found = handlersOf(draft);
  const follows = ({ from, to }: Edge): boolean =>
    draft.edges.has(`${from}\n${to}`) ||
    edges.some((edge) => edge.isEnding !== true && edge.from === from && edge.to === to);
  return found.filter(({ to }) => !found.every((other) => other.to !== to || follows(other)));
}

/** All ways from a node to one that takes over for it. */
export function handlersOf(draft: GraphDraft): readonly Edge[] {
  return [...draft.nodes.values()].flatMap(({ name, options }): Edge[] => {
    const { onError, onMaxVisits } = policiesOf(options);
    return [onError, onMaxVisits].flatMap((policy) =>
      typeof policy === 'object' && 'to' in policy ? [{ from: name, to: policy.to }] : [],
    );
  });
}

/** Builds a plan that only holds the order of the nodes. */
function planOf(draft: GraphDraft, edges: readonly Edge[], routes: readonly Route[]): Plan {
  const nodes = [...draft.nodes.values()].map(({ name, options }): PlanNode => {
    const { join, onError, onMaxVisits } = policiesOf(options);
    return {
      kind: 'pass',
      id: name,
      ...present({ join, onError, onMaxVisits }),
    };
  });
  const { entry } = draft;
  const declared = [...draft.edges.values(), ...edges];
  const plan = { format: 1, name: '', inputs: [], channels: [], nodes, edges: declared, routes } as const;
  return entry === undefined ? plan : { ...plan, entry };
}

/** Returns the nodes that a run can reach: by a route, a handler, or once all they wait for is reachable. */
function reachedBy(plan: Plan): ReadonlySet<string> {
  const { edges, inEdges, outEdges, starts } = analyzeShape(plan);
  const reached = new Set(starts);
  const isReached = (node: number): boolean => {
    const into = (inEdges[node] ?? []).flatMap((at) => edges[at] ?? []);
    if (into.some(({ kind, from }) => kind !== 'static' && reached.has(from))) return true;
    const { join = 'all' } = plan.nodes[node] ?? {};
    const waits = into.filter(({ kind, closesCycle }) => kind === 'static' && !closesCycle);
    return join === 'all' || join === 'settled'
      ? waits.length > 0 && waits.every(({ from }) => reached.has(from))
      : waits.some(({ from }) => reached.has(from));
  };
  for (const node of reached) {
    for (const at of outEdges[node] ?? []) {
      const to = edges[at]?.to ?? node;
      if (!reached.has(to) && isReached(to)) reached.add(to);
    }
  }
  return new Set([...reached].map((node) => plan.nodes[node]?.id ?? ''));
}

function reachable(plan: Plan): (name: string) => ReadonlySet<string> {
  const shape = analyzeShape(plan);
  return (name) =>
    new Set([...reachedFrom(shape, [shape.index.get(name) ?? -1])].map((node) => plan.nodes[node]?.id ?? ''));
}
