import { arrange, emptyGraph, type Gaps, type Laid } from './dagre.js';
import type { DrawnEdge, DrawnItem, Drawing } from '../plan/drawing.js';

/** A position in the picture, in the units of its medium: points of a drawing, or columns and rows of a terminal. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box at its position; `x` and `y` are its upper left corner. */
export interface PlacedItem extends Point {
  readonly item: DrawnItem;
  readonly width: number;
  readonly height: number;
  /** The content of a frame, positioned from the frame's upper left corner. */
  readonly inner: Layout | undefined;
}

/** An edge between two boxes; the points lead from the first to the second. */
export interface PlacedEdge {
  readonly edge: DrawnEdge;
  readonly points: readonly Point[];
  /** The centre of its label. */
  readonly label: Point | undefined;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly items: readonly PlacedItem[];
  readonly edges: readonly PlacedEdge[];
}

export interface Medium {
  /** Returns the size of a box; `inner` is the size of a frame's content. */
  box(
    item: DrawnItem,
    inner: { readonly width: number; readonly height: number } | undefined,
  ): {
    readonly width: number;
    readonly height: number;
  };
  /** Returns where the content of a frame starts, relative to the frame's corner. */
  head(item: DrawnItem): Point;
  label(text: string): { readonly width: number; readonly height: number };
  readonly gaps: Gaps;
}

/** Positions the boxes of a drawing, by Sugiyama's layered method as dagre implements it. Each frame is laid out alone. */
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

/** True if boxes mostly stand right to left of how they are written. Mirrored, as many lines cross. */
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
