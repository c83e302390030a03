import type { CompiledNode, CompiledPlan } from './compile.js';

/** How often the nodes of one scope ran, and how often they were skipped. */
export class Visits {
  /** By node: how often it ran or was skipped; -1 for those that nothing happened to. */
  private readonly all: number[];
  /** How often it was skipped, or ran before its visits were counted anew. */
  private skips: number[] | undefined = undefined;

  /** `first` is the number of the first visits of nodes that start. */
  constructor(
    private readonly compiled: CompiledPlan,
    first = 1,
  ) {
    this.all = compiled.untouched.slice();
    if (first > 1) for (const at of compiled.starts) this.all[at] = first - 1;
  }

  /** Number of the next visit. */
  next(node: number): number {
    const visit = Math.max(this.all[node] ?? 0, 0) + 1;
    this.all[node] = visit;
    return visit;
  }

  /** The visit of a node was a skip. */
  skipped(node: number): void {
    const skips = (this.skips ??= []);
    skips[node] = (skips[node] ?? 0) + 1;
  }

  /** The first visit of a node did not take place. */
  undone(node: number): void {
    this.all[node] = -1;
  }

  /** How often a node ran. */
  runs(node: number): number {
    return Math.max(this.all[node] ?? 0, 0) - (this.skips?.[node] ?? 0);
  }

  /** The visits of nodes are counted anew: those that were, count like skipped ones. */
  countAnew(nodes: readonly number[]): void {
    if (nodes.length === 0) return;
    const skips = (this.skips ??= []);
    for (const node of nodes) skips[node] = Math.max(this.all[node] ?? 0, 0);
  }

  /** Number of nodes that neither ran nor were skipped. */
  untouched(): number {
    return this.compiled.nodes.filter(({ node, index }) => node.kind !== 'pass' && (this.all[index] ?? -1) < 0).length;
  }

  /** Nodes at their caps that hand over to one another, with none that may still run. */
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
