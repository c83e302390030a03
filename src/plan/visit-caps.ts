import type { PlanNode } from './plan.js';

/**
 * How often nodes with a cap run at most in one run of their plan, by index: where another node has their visits counted anew, so often for each
 * of its runs, and once more.
 *
 * @example
 * visitCaps(plan.nodes).get(4); // 20
 */
export function visitCaps(nodes: readonly PlanNode[]): ReadonlyMap<number, number> {
  const caps = new Map<number, number>();
  const outer: { readonly from: number; readonly runs: number }[] = [];
  const places = new Map(nodes.map(({ id }, at) => [id, at]));
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at];
    if (node?.maxVisits === undefined) continue;
    const entries = outer.reduce((sum, { from, runs }) => (from <= at ? sum + runs : sum), 1);
    const runs = Math.min(node.maxVisits * entries, Number.MAX_SAFE_INTEGER);
    caps.set(at, runs);
    const from = node.countsAnewFrom === undefined ? undefined : places.get(node.countsAnewFrom);
    if (from !== undefined) outer.push({ from, runs });
  }
  return caps;
}

/** Indexes of the nodes with a cap that have their visits counted anew when a node runs. */
export function countedAnew(nodes: readonly PlanNode[], at: number): readonly number[] {
  const name = nodes[at]?.countsAnewFrom;
  if (name === undefined) return NONE;
  const from = nodes.findIndex(({ id }) => id === name);
  const found: number[] = [];
  for (let i = Math.max(from, 0); i < at; i += 1) if (nodes[i]?.maxVisits !== undefined) found.push(i);
  return found;
}

const NONE: readonly number[] = [];
