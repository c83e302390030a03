import type { CompiledNode, CompiledPlan } from './compile.js';

/** Counts how often the nodes of one scope ran, and how often they were skipped. */
export class Visits {
  /** Runs and skips by node; -1 for nodes that were not reached. */
  private readonly all: number[];
  /** Skips by node, plus runs from before its count restarted. */
  private skips: number[] | undefined = undefined;

  /** `first`: visit number of the first visits of starting nodes. */
  constructor(
    private readonly compiled: CompiledPlan,
    first = 1,
  ) {
    this.all = compiled.untouched.slice();
    if (first > 1) for (const at of compiled.starts) this.all[at] = first - 1;
  }

  next(node: number): number {
    const visit = Math.max(this.all[node] ?? 0, 0) + 1;
    this.all[node] = visit;
    return visit;
  }

  /** Notes that the visit of a node was a skip. */
  skipped(node: number): void {
    const skips = (this.skips ??= []);
    skips[node] = (skips[node] ?? 0) + 1;
  }

  /** Notes that the first visit of a node did not happen. */
  undone(node: number): void {
    this.all[node] = -1;
  }

  runs(node: number): number {
    return Math.max(this.all[node] ?? 0, 0) - (this.skips?.[node] ?? 0);
  }

  /** Restarts the visit counts of nodes: earlier visits then count like skips. */
  countAnew(nodes: readonly number[]): void {
    if (nodes.length === 0) return;
    const skips = (this.skips ??= []);
    for (const node of nodes) skips[node] = Math.max(this.all[node] ?? 0, 0);
  }

  /** Number of nodes that neither ran nor were skipped. */
  untouched(): number {
    return this.compiled.nodes.filter(({ node, index }) => node.kind !== 'pass' && (this.all[index] ?? -1) < 0).length;
  }

  /** Whether nodes at their caps refer to one another in a circle, so that none of them may run. */
  capsGoRound(first: CompiledNode): boolean {
    const { nodes } = this.compiled;
    const seen = new Set<CompiledNode>();
    for (let node: CompiledNode | undefined = first; node !== undefined; node = nodes[node.onMaxVisitsTo]) {
      if (seen.has(node)) return true;
      seen.add(node);
      const cap = node.node.maxVisits;
      if (cap === undefined || this.runs(node.index) < cap) return false;
    }
    return false;
  }
}
