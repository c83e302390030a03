import { arrange, emptyGraph } from './dagre.js';
import type { Gaps, Laid } from './dagre.js';
import type { DrawnEdge, DrawnItem, Drawing } from '../plan/drawing.js';

/** A place in the picture, in the units of its medium: points of a drawing, or columns and rows of a terminal. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box at its place; `x` and `y` are of its upper left corner. */
export interface PlacedItem extends Point {
  readonly item: DrawnItem;
  readonly width: number;
  readonly height: number;
  /** Of a frame: what stands in it, placed from the upper left corner of the frame. */
  readonly inner: Layout | undefined;
}

/** An edge from box to box; the points lead from the one to the other. */
export interface PlacedEdge {
  readonly edge: DrawnEdge;
  readonly points: readonly Point[];
  /** The middle of its label. */
  readonly label: Point | undefined;
}

/** A whole picture. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly items: readonly PlacedItem[];
  readonly edges: readonly PlacedEdge[];
}

/** What is known of a medium. */
export interface Medium {
  /** Size of a box; `inner` is the size of what stands in a frame. */
  box(
    item: DrawnItem,
    inner: { readonly width: number; readonly height: number } | undefined,
  ): {
    readonly width: number;
    readonly height: number;
  };
  /** Where the content of a frame begins, from the corner of the frame. */
  head(item: DrawnItem): Point;
  label(text: string): { readonly width: number; readonly height: number };
  readonly gaps: Gaps;
}

/**
 * Places the boxes of a drawing from top to bottom, by the layered method of Sugiyama as dagre carries it out. Frames are placed first, by themselves: no
 * edge crosses the border of a workflow.
 */
export function layOut({ items, edges }: Pick<Drawing, 'items' | 'edges'>, medium: Medium): Layout {
  const graph = emptyGraph();
  const inside = new Map<string, Layout>();
  for (const item of items) {
    const inner = item.inner === undefined ? undefined : layOut({ items: item.inner, edges }, medium);
    if (inner !== undefined) inside.set(item.key, inner);
    graph.setNode(item.key, { ...medium.box(item, inner) });
  }
  const own = edges.filter(({ from, to }) => graph.hasNode(from) && graph.hasNode(to));
  own.forEach(({ from, to, label }, index) => {
    const size: Laid = label === undefined ? {} : { ...medium.label(label), labelpos: 'c' };
    graph.setEdge(from, to, size, String(index));
  });
  arrange(graph, medium.gaps);
  const placed = items.map((item): PlacedItem => {
    const { x = 0, y = 0, width = 0, height = 0 } = graph.node(item.key);
    return { item, x: x - width / 2, y: y - height / 2, width, height, inner: inside.get(item.key) };
  });
  const lines = own.map((edge, index): PlacedEdge => {
    const found = graph.edge(edge.from, edge.to, String(index));
    const { x, y, points = [] } = found;
    return {
      edge,
      points,
      label: edge.label === undefined || x === undefined || y === undefined ? undefined : { x, y },
    };
  });
  const { width = 0, height = 0 } = graph.graph();
  const layout = { width, height, items: placed, edges: lines };
  return isReversed(placed) ? mirrored(layout) : layout;
}

/** Both ways round cross as little: boxes then stand from left to right as they are written. */
function isReversed(items: readonly PlacedItem[]): boolean {
  let balance = 0;
  const last = new Map<number, PlacedItem>();
  for (const item of items) {
    const rank = Math.round(item.y + item.height / 2);
    const before = last.get(rank);
    if (before !== undefined) balance += item.x < before.x ? 1 : -1;
    last.set(rank, item);
  }
  return balance > 0;
}

function mirrored({ width, height, items, edges }: Layout): Layout {
  const flip = ({ x, y }: Point): Point => ({ x: width - x, y });
  return {
    width,
    height,
    items: items.map((item) => ({ ...item, x: width - item.x - item.width })),
    edges: edges.map(({ edge, points, label }) => ({
      edge,
      points: points.map(flip),
      label: label === undefined ? undefined : flip(label),
    })),
  };
}
