/** Which nodes of a graph can only be reached through others. */
export interface Dominators {
  /** Returns whether any path leads to a node. */
  reaches(node: number): boolean;
  /** Returns the last node that every path to a node passes. */
  above(node: number): number | undefined;
  /** Returns the last node that every path to either of two nodes passes: one of the two if every path to the other passes it. */
  shared(a: number, b: number): number | undefined;
}

/**
 * Computes the dominators of all nodes reachable from `root`, which has the highest number, by the algorithm of Cooper, Harvey and Kennedy:
 * one pass over the graph for each loop within a loop.
 */
export function dominatorsFrom(root: number, targets: (node: number) => readonly number[]): Dominators {
  const order = postOrder(root, targets);
  const place = new Int32Array(root + 1).fill(-1);
  order.forEach((node, at) => (place[node] = at));
  const before = order.map((): number[] => []);
  for (const node of order) for (const to of targets(node)) before[place[to] ?? 0]?.push(place[node] ?? 0);
  const idom = immediate(before);
  return {
    reaches: (node) => place[node] !== -1,
    above: (node) => order[idom[place[node] ?? -1] ?? -1],
    shared: (a, b) => order[meet(idom, place[a] ?? 0, place[b] ?? 0)],
  };
}

/** Returns all reachable nodes, each after those that it leads to. */
function postOrder(root: number, targets: (node: number) => readonly number[]): readonly number[] {
  const order: number[] = [];
  const seen = new Set([root]);
  const open: { readonly node: number; readonly to: readonly number[]; next: number }[] = [
    { node: root, to: targets(root), next: 0 },
  ];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const to = top.to[top.next++];
    if (to === undefined) {
      order.push(top.node);
      open.pop();
    } else if (!seen.has(to)) {
      seen.add(to);
      open.push({ node: to, to: targets(to), next: 0 });
    }
  }
  return order;
}

/** Returns the nearest dominator of each node, by place in the post-order; the last place is the root. */
function immediate(before: readonly (readonly number[])[]): Int32Array {
  const root = before.length - 1;
  const idom = new Int32Array(before.length).fill(-1);
  idom[root] = root;
  for (let changed = true; changed;) {
    changed = false;
    for (let node = root - 1; node >= 0; node -= 1) {
      const known = (before[node] ?? []).filter((from) => (idom[from] ?? -1) !== -1);
      const [first = root, ...more] = known;
      const found = more.reduce((one, other) => meet(idom, one, other), first);
      if (idom[node] === found) continue;
      idom[node] = found;
      changed = true;
    }
  }
  return idom;
}

function meet(idom: Int32Array, one: number, other: number): number {
  const root = idom.length - 1;
  let [a, b] = [one, other];
  while (a !== b) {
    while (a < b) a = idom[a] ?? root;
    while (b < a) b = idom[b] ?? root;
  }
  return a;
}
