/** Which steps can't be reached without others. */
export interface Dominance {
  /** True when every way to `to` leads over `at`; for `end`, every way out of the part that `at` belongs to. */
  isBefore(at: number, to: number | 'end'): boolean;
}

/** A directed graph whose parts share nothing: each has its start, and its own end. */
export interface Parts {
  readonly starts: readonly number[];
  /** Targets by node; a negative one is the end of the node's part. */
  readonly ways: readonly (readonly number[])[];
  /** Index into `starts` by node. */
  readonly partOf: (node: number) => number;
}

/**
 * The dominators of a graph, by the algorithm of Cooper, Harvey and Kennedy: once over the graph for each loop within a loop.
 */
export function dominanceOf({ starts, ways, partOf }: Parts): Dominance {
  const count = ways.length;
  const endOf = (part: number): number => count + part;
  const root = count + starts.length;
  const targets = (node: number): readonly number[] => {
    if (node === root) return starts;
    return (ways[node] ?? []).map((to) => (to < 0 ? endOf(partOf(node)) : to));
  };
  const order = postOrder(root, targets);
  const place = new Int32Array(root + 1).fill(-1);
  order.forEach((node, at) => (place[node] = at));
  const before = order.map((): number[] => []);
  for (const node of order) for (const to of targets(node)) before[place[to] ?? 0]?.push(place[node] ?? 0);
  const idom = immediate(before);
  return {
    isBefore(at, to) {
      const wanted = place[at] ?? -1;
      let here = place[to === 'end' ? endOf(partOf(at)) : to] ?? -1;
      if (wanted === -1 || here === -1) return true;
      while (here < wanted) here = idom[here] ?? order.length;
      return here === wanted;
    },
  };
}

/** Every node that can be reached, behind those that it leads to. */
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

/** The nearest dominator of each node, all by their place in the post-order; the last one is the root. */
function immediate(before: readonly (readonly number[])[]): Int32Array {
  const root = before.length - 1;
  const idom = new Int32Array(before.length).fill(-1);
  idom[root] = root;
  const meet = (one: number, other: number): number => {
    let [a, b] = [one, other];
    while (a !== b) {
      while (a < b) a = idom[a] ?? root;
      while (b < a) b = idom[b] ?? root;
    }
    return a;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (let node = root - 1; node >= 0; node -= 1) {
      const known = (before[node] ?? []).filter((from) => (idom[from] ?? -1) !== -1);
      const [first = root, ...more] = known;
      const found = more.reduce(meet, first);
      if (idom[node] === found) continue;
      idom[node] = found;
      changed = true;
    }
  }
  return idom;
}
