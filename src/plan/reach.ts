import type { GraphShape, ShapeEdge } from './graph-shape.js';

/** How many sources one pass over the graph follows: the bits of a word. */
const BATCH = 32;

/**
 * Finds what can be reached from many nodes, 32 of them per pass. For each batch, `visit` gets its sources and, per node, a mask of those
 * that lead to it (bit i: the source number i; a source leads to itself only around a cycle), and answers whether to go on.
 * Forward edges only, unless `cycles` is set.
 */
export function forEachReach(
  shape: GraphShape,
  sources: readonly number[],
  cycles: boolean,
  visit: (sources: readonly number[], masks: Uint32Array) => boolean,
): void {
  const wanted = new Set(sources);
  // Neighbours in the order share a batch, and nothing in front of the first of them can be reached forward.
  const sorted = shape.order.flatMap((node, place) => (wanted.has(node) ? [{ node, place }] : []));
  for (let first = 0; first < sorted.length; first += BATCH) {
    const batch = sorted.slice(first, first + BATCH);
    const masks = new Uint32Array(shape.outEdges.length);
    const own = new Map(batch.map(({ node }, bit) => [node, (1 << bit) >>> 0]));
    let from = batch[0]?.place ?? 0;
    // Another pass each time that an edge which leads back has carried something new.
    while (spread(shape, masks, own, { cycles, from })) from = 0;
    const goOn = visit(
      batch.map(({ node }) => node),
      masks,
    );
    if (!goOn) return;
  }
}

/** True when there is a forward path from one node to another. Looks only at nodes that lie between them in the order. */
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

/** One pass in topological order; true when an edge that closes a cycle changed something before its node's turn. */
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
