import type { GraphShape } from './graph-shape.js';
import type { Plan, Route } from './plan.js';

/** Tells which nodes never run in the same visit: different targets of one choice, and what lies behind them. */
export interface Exclusion {
  areExclusive(a: number, b: number): boolean;
}

/**
 * Finds exclusive branches by dominators: a node lies behind an edge when every forward path to it takes that edge.
 * Two targets of one route are taken to exclude each other unless a case names both; a handler excludes everything else behind its node.
 *
 * @example
 * findExclusion(plan, shape).areExclusive(yes, no);
 */
export function findExclusion(plan: Plan, shape: GraphShape): Exclusion {
  const tree = dominators(plan, shape);
  const together = new Map<number, readonly ReadonlySet<string>[]>();
  return {
    areExclusive(a, b) {
      const [first, second] = tree.parting(a, b);
      const one = shape.edges[first - plan.nodes.length];
      const other = shape.edges[second - plan.nodes.length];
      if (one === undefined || other === undefined || one.from !== other.from) return false;
      if (one.kind === 'handler' || other.kind === 'handler') return true;
      if (one.kind !== 'route' || one.route !== other.route) return false;
      const route = plan.routes[one.route];
      if (route === undefined) return false;
      const sets = together.get(one.route) ?? chosenTogether(route);
      together.set(one.route, sets);
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

interface Tree {
  /** The children of the last dominator that two nodes share, each on the way to one of them; -1 when one dominates the other. */
  parting(a: number, b: number): readonly [number, number];
}

/**
 * Immediate dominators of a graph without cycles, in one pass in topological order. Choices are vertices too: the edge number e is vertex
 * `nodes + e`. Edges that close a cycle do not count: what they lead to has run before.
 */
function dominators(plan: Plan, shape: GraphShape): Tree {
  const nodes = plan.nodes.length;
  const root = nodes + shape.edges.length;
  const parent = new Int32Array(root + 1).fill(root);
  const depth = new Uint32Array(root + 1);
  const hasHandler = new Uint8Array(nodes);
  for (const edge of shape.edges) if (edge.kind === 'handler') hasHandler[edge.from] = 1;
  const started = new Set(shape.starts);
  const meet = (a: number, b: number): number => {
    let left = a;
    let right = b;
    while (left !== right) {
      if ((depth[left] ?? 0) >= (depth[right] ?? 0)) left = parent[left] ?? root;
      else right = parent[right] ?? root;
    }
    return left;
  };
  for (const node of shape.order) {
    let above = started.has(node) ? root : -1;
    for (const at of shape.inEdges[node] ?? []) {
      const edge = shape.edges[at];
      if (edge === undefined || edge.closesCycle) continue;
      let before = edge.from;
      if (edge.kind !== 'static' || hasHandler[edge.from] === 1) {
        before = nodes + at;
        parent[before] = edge.from;
        depth[before] = (depth[edge.from] ?? 0) + 1;
      }
      above = above === -1 ? before : meet(above, before);
    }
    parent[node] = above === -1 ? root : above;
    depth[node] = (depth[parent[node] ?? root] ?? 0) + 1;
  }
  return {
    parting(a, b) {
      const shared = meet(a, b);
      const below = (from: number): number => {
        let at = from;
        while (at !== shared && parent[at] !== shared) at = parent[at] ?? root;
        return at === shared ? -1 : at;
      };
      return [below(a), below(b)];
    },
  };
}
