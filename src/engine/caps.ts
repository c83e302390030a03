import type { CompiledNode } from './compile.js';

/** Counts visits anew: those that were, count like skipped ones. */
export function countAnew(nodes: readonly number[], visits: readonly number[], skips: number[] = []): number[] {
  for (const node of nodes) skips[node] = Math.max(visits[node] ?? 0, 0);
  return skips;
}

/** Nodes at their caps that hand over to one another, with none that may still run. `runsOf`: how often a node ran. */
export function capsGoRound(
  nodes: readonly CompiledNode[],
  first: CompiledNode,
  runsOf: (node: number) => number,
): boolean {
  const seen = new Set<CompiledNode>();
  for (let node: CompiledNode | undefined = first; node !== undefined; node = nodes[node.onMaxVisitsTo]) {
    if (seen.has(node)) return true;
    seen.add(node);
    const cap = node.node.maxVisits;
    if (cap === undefined || runsOf(node.index) < cap) return false;
  }
  return false;
}
