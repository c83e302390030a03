import { MinHeap } from '../base/collections.js';

/** An edge between node indexes, to be marked. */
interface Edge {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
  closesCycle: boolean;
}

interface Edges {
  readonly edges: readonly Edge[];
  readonly outEdges: readonly (readonly number[])[];
  readonly inEdges: readonly (readonly number[])[];
}

/**
 * Marks the edges that close a cycle (E3): those that a depth-first search from the starts finds to lead back, the entry first. Where a
 * cycle has several ways in, the search may go round it the wrong way and find that a static edge leads back to a node that need not
 * have run before; there, what can run first decides.
 */
export function markCycles(graph: Edges, starts: readonly number[], entry: number | undefined): void {
  const { edges } = graph;
  const roots = entry === undefined ? starts : [entry, ...starts];
  const { begun, ended } = search(graph, roots);
  const suspects = edges.filter(({ kind, to, closesCycle }) => kind === 'static' && closesCycle && to !== entry);
  if (suspects.length === 0) return;
  const place = runOrder(graph, roots, { entry, begun });
  const isBefore = ({ from, to }: Edge): boolean => (place[from] ?? 0) < (place[to] ?? 0);
  const wrong = suspects.filter(isBefore);
  if (wrong.length === 0) return;
  const cycleOf = components(graph, ended);
  const again = new Set(wrong.map(({ from }) => cycleOf[from]));
  const back = edges.filter(({ from, to }) => cycleOf[from] === cycleOf[to] && again.has(cycleOf[from]));
  for (const edge of back) edge.closesCycle = !isBefore(edge);
  const sources = new Set(back.filter(({ closesCycle }) => closesCycle).map(({ from }) => from));
  for (const from of [...sources].toSorted((a, b) => (place[a] ?? 0) - (place[b] ?? 0))) release(graph, from);
}

/** An edge that leads back in the order of runs closes no cycle if no way leads from its end to its beginning. */
function release({ edges, outEdges, inEdges }: Edges, source: number): void {
  const before = new Set([source]);
  for (const node of before)
    for (const at of inEdges[node] ?? []) {
      const edge = edges[at];
      if (edge?.closesCycle === false) before.add(edge.from);
    }
  for (const at of outEdges[source] ?? []) {
    const edge = edges[at];
    if (edge?.closesCycle === true && !before.has(edge.to)) edge.closesCycle = false;
  }
}

const NEW = 0;
const OPEN = 1;
const DONE = 2;

/** Searches depth first from the starts, then from the rest. Returns the nodes in the orders of arrival and of departure. */
function search({ edges, outEdges }: Edges, starts: readonly number[]): { begun: number[]; ended: number[] } {
  const state = new Uint8Array(outEdges.length);
  const next = new Uint32Array(outEdges.length);
  const stack: number[] = [];
  const begun: number[] = [];
  const ended: number[] = [];
  const open = (node: number): void => {
    state[node] = OPEN;
    begun.push(node);
    stack.push(node);
  };
  const visit = (root: number): void => {
    if (state[root] === NEW) open(root);
    for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
      const turn = next[node] ?? 0;
      const edge = edges[outEdges[node]?.[turn] ?? -1];
      if (edge === undefined) {
        state[node] = DONE;
        ended.push(node);
        stack.pop();
        continue;
      }
      next[node] = turn + 1;
      if (state[edge.to] === OPEN) edge.closesCycle = true;
      else if (state[edge.to] === NEW) open(edge.to);
    }
  };
  for (const start of starts) visit(start);
  for (let node = 0; node < outEdges.length; node += 1) visit(node);
  return { begun, ended };
}

/**
 * Places of the nodes in an order in which they can run: each after a node that leads to it, and after all from which a static edge leads
 * to it. Where none can, the next one by the search does not wait for all.
 */
function runOrder(
  { edges, outEdges, inEdges }: Edges,
  starts: readonly number[],
  { entry, begun }: { readonly entry: number | undefined; readonly begun: readonly number[] },
): Uint32Array {
  const rank = new Uint32Array(outEdges.length);
  begun.forEach((node, at) => (rank[node] = at));
  const waits = inEdges.map((into) => into.filter((at) => edges[at]?.kind === 'static').length);
  const place = new Uint32Array(outEdges.length);
  const ready = new MinHeap((node: number) => node);
  const reached = new MinHeap((node: number) => rank[node] ?? 0);
  for (const start of starts) ready.put(start);
  // Unreachable parts have an order too.
  for (const node of begun) reached.put(node);
  let placed = 0;
  for (let node = ready.take() ?? reached.take(); node !== undefined; node = ready.take() ?? reached.take()) {
    if (place[node] !== 0) continue;
    place[node] = placed += 1;
    for (const at of outEdges[node] ?? []) {
      const edge = edges[at];
      if (edge === undefined) continue;
      const left = (waits[edge.to] ?? 0) - (edge.kind === 'static' ? 1 : 0);
      waits[edge.to] = left;
      if (left === 0 || edge.to === entry) ready.put(edge.to);
    }
  }
  return place;
}

/** A number for each node: the same for nodes that lead to each other. */
function components({ edges, inEdges }: Edges, ended: readonly number[]): Int32Array {
  const cycleOf = new Int32Array(inEdges.length).fill(-1);
  for (const root of ended.toReversed()) {
    const open = [root];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (cycleOf[node] !== -1) continue;
      cycleOf[node] = root;
      for (const at of inEdges[node] ?? []) open.push(edges[at]?.from ?? root);
    }
  }
  return cycleOf;
}
