import type { GraphShape } from '../../plan/graph-shape.js';

/** Returns the cycle of each node: nodes that can reach one another have the same number (Tarjan 1972, iterative). */
export function findCycles(shape: GraphShape): readonly number[] {
  const count = shape.outEdges.length;
  const search: Search = {
    shape,
    component: Array.from({ length: count }, () => -1),
    found: new Int32Array(count).fill(-1),
    low: new Int32Array(count),
    next: new Uint32Array(count),
    open: [],
    path: [],
    clock: 0,
    components: 0,
  };
  for (let root = 0; root < count; root++) if (search.found[root] === -1) explore(search, root);
  return search.component;
}

interface Search {
  readonly shape: GraphShape;
  readonly component: number[];
  readonly found: Int32Array;
  readonly low: Int32Array;
  readonly next: Uint32Array;
  readonly open: number[];
  readonly path: number[];
  clock: number;
  components: number;
}

function enter(search: Search, node: number): void {
  search.found[node] = search.clock;
  search.low[node] = search.clock;
  search.clock += 1;
  search.open.push(node);
  search.path.push(node);
}

function explore(search: Search, root: number): void {
  enter(search, root);
  for (let node = search.path.at(-1); node !== undefined; node = search.path.at(-1)) {
    const turn = search.next[node] ?? 0;
    const edge = search.shape.edges[search.shape.outEdges[node]?.[turn] ?? -1];
    if (edge === undefined) {
      leave(search, node);
      continue;
    }
    search.next[node] = turn + 1;
    if (search.found[edge.to] === -1) enter(search, edge.to);
    else if (search.component[edge.to] === -1) lower(search, node, search.found[edge.to] ?? 0);
  }
}

function lower(search: Search, node: number, value: number): void {
  if (value < (search.low[node] ?? 0)) search.low[node] = value;
}

function leave(search: Search, node: number): void {
  search.path.pop();
  const parent = search.path.at(-1);
  if (parent !== undefined) lower(search, parent, search.low[node] ?? 0);
  if (search.low[node] !== search.found[node]) return;
  for (let member = search.open.pop(); member !== undefined; member = search.open.pop()) {
    search.component[member] = search.components;
    if (member === node) break;
  }
  search.components += 1;
}
