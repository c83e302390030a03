import { addTo } from '../base/collections.js';
import type { GraphShape, ShapeEdge } from './graph-shape.js';

/** Number of sources that one pass over the graph follows: the bits of a word. */
const BATCH = 32;

/**
 * Finds what can be reached from many nodes, 32 of them per pass. For each batch, `visit` receives its sources and, per node, a mask of
 * those that lead to it (bit i: source number i; a source leads to itself only around a cycle), and returns whether to continue. Follows
 * only forward edges, unless `cycles` is set.
 */
export function forEachReach(
  shape: GraphShape,
  sources: readonly number[],
  cycles: boolean,
  visit: (sources: readonly number[], masks: Uint32Array) => boolean,
): void {
  const wanted = new Set(sources);
  // Neighbours in the order share a batch, and forward edges reach nothing before the first of them.
  const sorted = shape.order.flatMap((node, place) => (wanted.has(node) ? [{ node, place }] : []));
  for (let first = 0; first < sorted.length; first += BATCH) {
    const batch = sorted.slice(first, first + BATCH);
    const masks = new Uint32Array(shape.outEdges.length);
    const own = new Map(batch.map(({ node }, bit) => [node, (1 << bit) >>> 0]));
    let from = batch[0]?.place ?? 0;
    // Another pass is needed whenever an edge that leads back has changed something.
    while (spread(shape, masks, own, { cycles, from })) from = 0;
    const goOn = visit(
      batch.map(({ node }) => node),
      masks,
    );
    if (!goOn) return;
  }
}

export function reachedFrom({ outEdges, edges }: GraphShape, from: Iterable<number>): ReadonlySet<number> {
  const reached = new Set(from);
  for (const node of reached) for (const at of outEdges[node] ?? []) reached.add(edges[at]?.to ?? node);
  return reached;
}

/** Returns the reads that a source explains, as `isBehind` decides from what the source leads to. */
export function explainedReads<T>(
  shape: GraphShape,
  reads: readonly T[],
  sourcesOf: (read: T) => readonly number[],
  isBehind: (read: T, leadsTo: (node: number) => boolean, source: number) => boolean,
): ReadonlySet<T> {
  const bySource = new Map<number, T[]>();
  for (const read of reads) for (const source of sourcesOf(read)) addTo(bySource, source, read);
  const explained = new Set<T>();
  forEachReach(shape, [...bySource.keys()], true, (sources, masks) => {
    sources.forEach((source, bit) => {
      const isAfter = (node: number): boolean => (((masks[node] ?? 0) >>> bit) & 1) === 1;
      for (const read of bySource.get(source) ?? []) if (isBehind(read, isAfter, source)) explained.add(read);
    });
    return explained.size < reads.length;
  });
  return explained;
}

/** Returns a function that finds all nodes before `to`, from those `directly` before it. Only the last `to` is valid. */
export function walkBack(
  before: readonly (readonly number[])[],
): (to: unknown, directly: readonly number[]) => (node: number) => boolean {
  const marks = new Uint32Array(before.length);
  let mark = 0;
  let last: unknown;
  const isMarked = (node: number): boolean => marks[node] === mark;
  return (to, directly) => {
    if (to === last) return isMarked;
    last = to;
    mark += 1;
    const open = [...directly];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next < 0 || marks[next] === mark) continue;
      marks[next] = mark;
      for (const from of before[next] ?? []) open.push(from);
    }
    return isMarked;
  };
}

/** True if there is a forward path from one node to another. Visits only nodes between them in the order. */
export function leadsTo(shape: GraphShape, places: ArrayLike<number>, from: number, to: number): boolean {
  const last = places[to] ?? 0;
  const reached = new Set([from]);
  for (const node of reached) {
    for (const at of shape.outEdges[node] ?? []) {
      const edge = shape.edges[at];
      if (edge === undefined || edge.closesCycle) continue;
      if (edge.to === to) return true;
      if ((places[edge.to] ?? 0) < last) reached.add(edge.to);
    }
  }
  return false;
}

/** Makes one pass in topological order; true if an edge that closes a cycle changed something before its node's turn. */
function spread(
  shape: GraphShape,
  masks: Uint32Array,
  own: ReadonlyMap<number, number>,
  options: { readonly cycles: boolean; readonly from: number },
): boolean {
  let again = false;
  for (let place = options.from; place < shape.order.length; place += 1) {
    const node = shape.order[place] ?? 0;
    const carried = (masks[node] ?? 0) | (own.get(node) ?? 0);
    if (carried === 0) continue;
    for (const at of shape.outEdges[node] ?? []) {
      const edge: ShapeEdge | undefined = shape.edges[at];
      if (edge === undefined || (edge.closesCycle && !options.cycles)) continue;
      const before = masks[edge.to] ?? 0;
      const after = (before | carried) >>> 0;
      if (after === before) continue;
      masks[edge.to] = after;
      if (edge.closesCycle) again = true;
    }
  }
  return again;
}
