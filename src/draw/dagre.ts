import * as library from '@dagrejs/dagre';
import { madeOnce } from '../base/collections.js';

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Distances between boxes of one rank, between edges, and between ranks. */
export interface Gaps {
  readonly boxes: number;
  readonly edges: number;
  readonly ranks: number;
}

/** A node or an edge: its input to the layout, and its position afterwards. */
export interface Laid {
  readonly width?: number;
  readonly height?: number;
  /** The centre. */
  readonly x?: number;
  readonly y?: number;
  readonly labelpos?: 'c';
  /** Of an edge only. */
  points?: readonly Place[];
  /** Of a node only: its row from the top, and its place in the row. */
  rank?: number;
  order?: number;
}

interface EdgeName {
  readonly v: string;
  readonly w: string;
}

interface Settings {
  readonly width?: number;
  readonly height?: number;
  ranksep?: number;
}

export interface DagreGraph {
  setGraph(options: Readonly<Record<string, unknown>>): void;
  graph(): Settings;
  setNode(key: string, size: Laid): void;
  hasNode(key: string): boolean;
  nodes(): string[];
  successors(key: string): string[];
  node(key: string): Laid;
  setEdge(from: string, to: string, size: Laid, name: string): void;
  edges(): EdgeName[];
  edge(from: string, to: string, name: string): Laid;
  edge(name: EdgeName): Laid;
}

// The types of the package import each other in a way that Node's module resolution does not follow.
const { Graph, layout } = library as unknown as {
  readonly Graph: new (options: { readonly multigraph: boolean }) => DagreGraph;
  readonly layout: (graph: DagreGraph, options: { readonly customOrder?: (inner: DagreGraph) => void }) => void;
};

/** Above this number of boxes, fewer crossings and shorter edges are not worth the time: it would double. */
const MANY_BOXES = 100;

/** Edges that pass a rank bend this far from it, so that rounding never puts a bend inside the rank. */
const HAIR = 0.1;
/** Edges leave a box at most this share of its width from its middle, which keeps them off the corners. */
const SIDE = 0.4;

/** Returns an empty graph that allows several edges between two nodes. */
export function emptyGraph(): DagreGraph {
  return new Graph({ multigraph: true });
}

export function arrange(graph: DagreGraph, { boxes, edges, ranks }: Gaps): void {
  const isLarge = graph.nodes().length > MANY_BOXES;
  const isDense = isLarge && needsNoRoom(graph);
  const largeRanker = isDense ? rankDensely : 'longest-path';
  graph.setGraph({
    rankdir: 'TB',
    ranker: isLarge ? largeRanker : 'tight-tree',
    nodesep: boxes,
    edgesep: edges,
    ranksep: ranks,
  });
  layout(graph, isLarge ? { customOrder: orderAsFound } : {});
  routeBetweenRanks(graph);
}

/** True if no labels or parallel edges, in either direction, need room between two boxes. */
function needsNoRoom(graph: DagreGraph): boolean {
  const edges = graph.edges();
  const pairs = new Set(edges.map(({ v, w }) => JSON.stringify(v < w ? [v, w] : [w, v])));
  return pairs.size === edges.length && edges.every((name) => graph.edge(name).labelpos === undefined);
}

/**
 * Ranks by the longest path, without the ranks that dagre adds for labels: dagre doubles each edge's length and puts a node at each rank
 * that it passes. Dagre fills in the points of edges that pass a rank; the other edges need one point, which lies at no rank.
 */
function rankDensely(inner: DagreGraph): void {
  const ranks = new Map<string, number>();
  const rankOf = (key: string): number =>
    madeOnce(ranks, key, () => inner.successors(key).reduce((lowest, next) => Math.min(lowest, rankOf(next) - 1), 0));
  for (const key of inner.nodes()) inner.node(key).rank = rankOf(key);
  for (const name of inner.edges()) inner.edge(name).points = [{ x: Infinity, y: Infinity }];
  const settings = inner.graph();
  settings.ranksep = (settings.ranksep ?? 0) * 2;
}

/** Orders the nodes of a rank as a search from the roots finds them. */
function orderAsFound(inner: DagreGraph): void {
  const found = new Set<string>();
  const widths: number[] = [];
  const find = (key: string): void => {
    if (found.has(key)) return;
    found.add(key);
    const node = inner.node(key);
    const { rank = 0 } = node;
    node.order = widths[rank] ?? 0;
    widths[rank] = node.order + 1;
    inner.successors(key).forEach(find);
  };
  inner
    .nodes()
    .toSorted((a, b) => (inner.node(a).rank ?? 0) - (inner.node(b).rank ?? 0))
    .forEach(find);
}

/** Lets edges move sideways only between ranks: an edge passes the boxes and labels of a rank straight from top to bottom. */
function routeBetweenRanks(graph: DagreGraph): void {
  const halves = new Map<number, number>();
  const names = graph.edges().filter(({ v, w }) => v !== w);
  const standing = [...graph.nodes().map((key) => graph.node(key)), ...names.map((name) => graph.edge(name))];
  for (const { y, height = 0 } of standing)
    if (y !== undefined) halves.set(y, Math.max(height / 2 + HAIR, halves.get(y) ?? 0));
  for (const name of names) {
    const edge = graph.edge(name);
    const [from, to] = [graph.node(name.v), graph.node(name.w)];
    const down = (to.y ?? 0) > (from.y ?? 0) ? 1 : -1;
    const bends = (edge.points ?? []).slice(1, -1).filter(({ y }) => Number.isFinite(y));
    const passed = bends.flatMap(({ x, y }) => {
      const half = halves.get(y);
      return half === undefined ? [] : [-down, down].map((side) => ({ x, y: y + side * half }));
    });
    // An edge between neighbours passes no box; its middle point keeps it apart from parallel edges.
    const way = passed.length > 0 ? passed : bends;
    const out = outOf(from, way[0] ?? to, down, halves);
    const into = outOf(to, way.at(-1) ?? from, -down, halves);
    edge.points = [...out, ...way, ...into.toReversed()];
  }
}

/** Leads from the lower border of a box (the upper one for `down` -1) to the border of its rank, on the side of `toward`. */
function outOf(box: Laid, toward: Partial<Place>, down: number, halves: ReadonlyMap<number, number>): readonly Place[] {
  const { x = 0, y = 0, width = 0, height = 0 } = box;
  const straight = (((toward.x ?? 0) - x) * height) / 2 / Math.abs((toward.y ?? 0) - y);
  const across = Math.max(-SIDE * width, Math.min(SIDE * width, straight));
  const half = halves.get(y) ?? 0;
  const ends = half > height / 2 + HAIR ? [height / 2, half] : [height / 2];
  return ends.map((end) => ({ x: x + across, y: y + down * end }));
}
