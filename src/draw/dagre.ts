import * as library from '@dagrejs/dagre';

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Distance between boxes of one rank, of edges, and between ranks. */
export interface Gaps {
  readonly boxes: number;
  readonly edges: number;
  readonly ranks: number;
}

/** What a node or edge is laid out by, and after that where it is. */
export interface Laid {
  readonly width?: number;
  readonly height?: number;
  /** Of the middle. */
  readonly x?: number;
  readonly y?: number;
  readonly labelpos?: 'c';
  /** Of an edge. */
  points?: readonly Place[];
  /** Of a node: its row, counted from above, and its place in the row. */
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

/** What is used of a graph of dagre. */
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

// The types of the package import each other in a way that the resolution of modules of Node does not follow.
const { Graph, layout } = library as unknown as {
  readonly Graph: new (options: { readonly multigraph: boolean }) => DagreGraph;
  readonly layout: (graph: DagreGraph, options: { readonly customOrder?: (inner: DagreGraph) => void }) => void;
};

/** In a picture of more boxes, fewer crossings and shorter edges are not worth the time: it would double. */
const MANY_BOXES = 100;

/**
 * A graph that holds several edges between two nodes.
 *
 * @example
 * const graph = emptyGraph();
 */
export function emptyGraph(): DagreGraph {
  return new Graph({ multigraph: true });
}

/**
 * Gives all nodes and edges of a graph their places, from top to bottom.
 *
 * @example
 * arrange(graph, { boxes: 3, edges: 3, ranks: 3 });
 */
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
  if (isDense) routeBetweenRanks(graph);
}

/** Neither labels nor edges side by side, there or back, stand between two boxes. */
function needsNoRoom(graph: DagreGraph): boolean {
  const edges = graph.edges();
  const pairs = new Set(edges.map(({ v, w }) => JSON.stringify(v < w ? [v, w] : [w, v])));
  return pairs.size === edges.length && edges.every((name) => graph.edge(name).labelpos === undefined);
}

/**
 * Ranks by the longest path, without the ranks that dagre adds for labels: it doubles the length of each edge, and places a node of its own at each rank
 * that an edge passes. Dagre fills in the points of edges that pass a rank; the others need one, and this one is at no rank.
 */
function rankDensely(inner: DagreGraph): void {
  const ranks = new Map<string, number>();
  const rankOf = (key: string): number => {
    const known = ranks.get(key);
    if (known !== undefined) return known;
    const rank = inner.successors(key).reduce((lowest, next) => Math.min(lowest, rankOf(next) - 1), 0);
    ranks.set(key, rank);
    inner.node(key).rank = rank;
    return rank;
  };
  inner.nodes().forEach(rankOf);
  for (const name of inner.edges()) inner.edge(name).points = [{ x: Infinity, y: Infinity }];
  const settings = inner.graph();
  settings.ranksep = (settings.ranksep ?? 0) * 2;
}

/** Nodes of a rank stand in the order in which a search from the roots finds them. */
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

/** Edges bend between the ranks alone, and pass a rank between two of its boxes: dagre gives one point for each rank that is passed. */
function routeBetweenRanks(graph: DagreGraph): void {
  const heights = new Map<number, number>();
  for (const { y = 0, height = 0 } of graph.nodes().map((key) => graph.node(key)))
    heights.set(y, Math.max(height, heights.get(y) ?? 0));
  for (const name of graph.edges()) {
    if (name.v === name.w) continue;
    const edge = graph.edge(name);
    const [from, to] = [graph.node(name.v), graph.node(name.w)];
    const half = (to.y ?? 0) > (from.y ?? 0) ? 0.5 : -0.5;
    const passed = (edge.points ?? []).slice(1, -1).flatMap(({ x, y }) => {
      const height = heights.get(y);
      return height === undefined ? [] : [-half, half].map((part) => ({ x, y: y + part * height }));
    });
    edge.points = [borderOf(from, passed[0] ?? to), ...passed, borderOf(to, passed.at(-1) ?? from)];
  }
}

/** Where the line from the middle of a box to a place above or below leaves the box. */
function borderOf({ x = 0, y = 0, width = 0, height = 0 }: Laid, other: Partial<Place>): Place {
  const [right, down] = [(other.x ?? 0) - x, (other.y ?? 0) - y];
  const share = Math.min(height / 2 / Math.abs(down), width / 2 / Math.abs(right));
  return { x: x + right * share, y: y + down * share };
}
