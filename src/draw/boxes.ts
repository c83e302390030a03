import { addTo } from '../base/collections.js';
import { cellsOfText } from '../base/text.js';
import type { Drawing, DrawnEdge, DrawnItem } from '../plan/drawing.js';
import { Canvas } from './canvas.js';
import { layOut, type Layout, type Medium, type PlacedItem, type Point } from './layout.js';

/** Longer lines are cut; the full text is in the file. */
const LONGEST_LINE = 44;

const MEDIUM: Medium = {
  box(item, inner) {
    const width = Math.max(1, ...item.lines.map((line) => cellsOfText(cut(line)))) + 4;
    const height = item.lines.length + 2;
    if (inner === undefined) return { width: odd(width), height };
    return { width: odd(Math.max(width, inner.width + 4)), height: height + inner.height };
  },
  head: (item) => ({ x: 2, y: item.lines.length + 1 }),
  label: (text) => ({ width: cellsOfText(cut(text)) + 2, height: 2 }),
  gaps: { boxes: 3, edges: 3, ranks: 3 },
};

export interface BoxesStyle {
  /** Whether to use box-drawing characters; otherwise plain ASCII. */
  readonly unicode: boolean;
  /** Colours a text that comes from an untrusted source. */
  readonly warn?: ((text: string) => string) | undefined;
}

/** Marks the border of a box whose result may be influenced from outside. */
const MARK = '!';

/** Paints a plan as boxes, for a terminal or a text file. */
export function paintBoxes(drawing: Drawing, { unicode, warn }: BoxesStyle): string {
  const layout = layOut(drawing, MEDIUM);
  const canvas = new Canvas(unicode);
  paint(layout, { x: 0, y: 0 }, canvas);
  const text = canvas.text(warn);
  return hasUntrusted(drawing.items) ? `${text}\n\n${(warn ?? String)(MARK)} untrusted text may influence it` : text;
}

function hasUntrusted(items: readonly DrawnItem[]): boolean {
  return items.some(({ untrusted, inner = [] }) => untrusted === true || hasUntrusted(inner));
}

function paint(layout: Layout, origin: Point, canvas: Canvas): void {
  const ways = waysOf(layout, origin);
  for (const { edge, places } of ways)
    canvas.inTint(edge.untrusted === true, () => paintEdge(places, edge.dashed, canvas));
  for (const item of layout.items) paintItem(item, origin, canvas);
  for (const { edge, label } of layout.edges) {
    if (label === undefined || edge.label === undefined) continue;
    const text = ` ${cut(edge.label)} `;
    canvas.write(Math.round(origin.x + label.x - cellsOfText(text) / 2), Math.floor(origin.y + label.y), text);
  }
  for (const { edge, places } of ways) {
    const [before, last] = places.slice(-2);
    if (before !== undefined && last !== undefined)
      canvas.inTint(edge.untrusted === true, () => canvas.tip(last.x, last.y, last.y < before.y));
  }
}

function paintItem(placed: PlacedItem, origin: Point, canvas: Canvas): void {
  const { item, inner } = placed;
  const { left, top, width, height } = boxOf(placed, origin);
  canvas.inTint(item.untrusted === true, () => {
    canvas.box(left, top, width, height, item.entry);
    if (item.untrusted === true) canvas.write(left + 2, top, MARK);
  });
  item.lines.forEach((line, at) => canvas.write(left + 2, top + 1 + at, cut(line)));
  if (inner === undefined) return;
  const head = MEDIUM.head(item);
  paint(inner, { x: left + head.x, y: top + head.y }, canvas);
}

/** Draws an edge: down to the middle, across, and down again. A middle between two rows is rounded to the row farther from the box. */
function paintEdge(places: readonly Point[], dashed: boolean, canvas: Canvas): void {
  places.slice(1).forEach((to, index) => {
    const from = places[index] ?? to;
    const half = Math.trunc((to.y - from.y) / 2);
    const middle = index === 0 ? to.y - half : from.y + half;
    canvas.down(from.x, from.y, middle, dashed);
    canvas.across(middle, from.x, to.x, dashed);
    canvas.down(to.x, middle, to.y, dashed);
  });
}

interface Way {
  readonly edge: DrawnEdge;
  /** The points from the row next to one box to the row next to the other. */
  readonly places: readonly Point[];
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

function boxOf({ x, y, width, height }: PlacedItem, origin: Point): Box {
  const [left, top] = [Math.round(origin.x + x), Math.round(origin.y + y)];
  return { left, top, width: Math.round(width), height: Math.round(height) };
}

/** Edges leave and reach a box side by side, in the order they arrive. An edge from a box to itself has no way. */
function waysOf({ items, edges }: Layout, origin: Point): readonly Way[] {
  const boxes = new Map(items.map((placed) => [placed.item.key, boxOf(placed, origin)]));
  const drawn = edges.filter(({ edge }) => edge.from !== edge.to);
  // Between neighbours one bend is enough; a longer edge bends around the boxes between.
  const inner = drawn.map(({ points, label }) =>
    points.length <= 3 && label === undefined ? [] : points.slice(1, -1).map((point) => shifted(point, origin)),
  );
  const ends = drawn.flatMap(({ edge, points }, index) => {
    const upwards = (points.at(-1)?.y ?? 0) < (points[0]?.y ?? 0);
    return (['from', 'to'] as const).map((end) => {
      const ordered = end === 'from' ? points : points.toReversed();
      const toward = ordered.find(({ x }) => x !== ordered[0]?.x)?.x ?? ordered[0]?.x ?? 0;
      return { index, end, toward, key: edge[end], isBelow: (end === 'from') !== upwards };
    });
  });
  const places = new Map<string, Point>();
  for (const side of [true, false]) {
    const here = new Map<string, typeof ends>();
    for (const end of ends.toSorted((a, b) => a.toward - b.toward)) if (end.isBelow === side) addTo(here, end.key, end);
    for (const [key, beside] of here) {
      const box = boxes.get(key);
      if (box === undefined) continue;
      const y = side ? box.top + box.height : box.top - 1;
      beside.forEach(({ index, end }, at) => {
        const x = box.left + Math.round(((box.width - 1) * (at + 1)) / (beside.length + 1));
        places.set(`${index} ${end}`, { x, y });
      });
    }
  }
  return drawn.map(({ edge }, index) => {
    const [from, to] = [places.get(`${index} from`), places.get(`${index} to`)];
    const middle = inner[index] ?? [];
    return { edge, places: from === undefined || to === undefined ? [] : [from, ...middle, to] };
  });
}

function shifted({ x, y }: Point, origin: Point): Point {
  return { x: Math.floor(origin.x + x), y: Math.floor(origin.y + y) };
}

function cut(line: string): string {
  const clean = line.replaceAll(/\p{Cc}|\p{Cf}/gu, ' ');
  return clean.length > LONGEST_LINE ? `${clean.slice(0, LONGEST_LINE - 1)}…` : clean;
}

/** Rounds a width up to an odd number, so that the box has a middle column. */
function odd(width: number): number {
  const columns = Math.ceil(width);
  return columns % 2 === 0 ? columns + 1 : columns;
}
