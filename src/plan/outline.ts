import { analyzeShape, type GraphShape } from './graph-shape.js';
import type { InputSpec, Plan } from './plan.js';
import { isNeeded } from './nodes.js';

/** The structure of a plan, known without running it. */
export interface Outline {
  /**
   * Ids by level: a node is one level below the lowest node that it waits for. Nodes of a level may run at the same time; a node starts as
   * soon as its own inputs are ready, regardless of the rest of its level (E5).
   */
  readonly levels: readonly (readonly string[])[];
  /** All ids, each after those it waits for; ties in plan order. */
  readonly order: readonly string[];
  /** Where a run starts (E6). */
  readonly starts: readonly string[];
  /** Nodes that run only if a route or a failure leads to them. */
  readonly conditional: readonly string[];
  /** Inputs that must be given. */
  readonly required: readonly InputSpec[];
}

/**
 * Outlines a plan: levels, order, starts, required inputs. Sub-plans are not entered: each is one node here.
 *
 * @example
 * outlinePlan(plan).levels; // [['fetch'], ['lint', 'test'], ['report']]
 */
export function outlinePlan(plan: Plan): Outline {
  const shape = analyzeShape(plan);
  const idOf = (node: number): string => plan.nodes[node]?.id ?? '';
  const level = new Uint32Array(plan.nodes.length);
  const levels: number[][] = [];
  const last = shape.index.get(plan.finally ?? '');
  const order = last === undefined ? shape.order : [...shape.order.filter((node) => node !== last), last];
  for (const node of order) {
    if (node === last) {
      levels.push([node]);
      continue;
    }
    const here = level[node] ?? 0;
    (levels[here] ??= []).push(node);
    for (const at of shape.outEdges[node] ?? []) {
      const edge = shape.edges[at];
      if (edge !== undefined && !edge.closesCycle && (level[edge.to] ?? 0) <= here) level[edge.to] = here + 1;
    }
  }
  return {
    levels: levels.map((nodes) => nodes.toSorted((a, b) => a - b).map(idOf)),
    order: order.map(idOf),
    starts: shape.starts.map(idOf),
    conditional: conditionalNodes(plan, shape).map(idOf),
    required: plan.inputs.filter(isNeeded),
  };
}

/** Returns the nodes to which no path of static edges leads from a start, except the one that runs after all others. */
function conditionalNodes(plan: Plan, shape: GraphShape): readonly number[] {
  const certain = new Set(shape.starts);
  for (const node of certain) {
    for (const at of shape.outEdges[node] ?? []) {
      const edge = shape.edges[at];
      if (edge?.kind === 'static') certain.add(edge.to);
    }
  }
  return plan.nodes.flatMap(({ id }, at) => (certain.has(at) || id === plan.finally ? [] : [at]));
}
