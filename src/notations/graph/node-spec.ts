import type { Bindings, PlanNode } from '../../plan/plan.js';

/** What a {@link NodeSpec} gives: a node of a plan, its functions, and what it reads. */
export interface BuiltNode {
  /** With the id that was asked for. */
  readonly node: PlanNode;
  /** Functions under the keys of {@link Bindings}: the body under the node's name, those of a sub-plan under `NAME/KEY`. */
  readonly bindings?: Bindings;
  /**
   * Names of the state that it needs, beside those that stand in the node's templates and conditions. Added with `.node`, a name of a
   * node makes an edge; any other name that no node writes is an input of the workflow.
   */
  readonly reads?: readonly string[];
  /** Names that it takes when they are there. Added with `.node`, a name of a node makes an edge. */
  readonly mayRead?: readonly string[];
}

/**
 * A node that is made by something else than a function of the user: an agent, a tool, another workflow, a map over a list. It can be
 * built any number of times under different names. `R` is the type of the result that it leaves in the state, `Writes` are further keys that it
 * writes.
 */
export interface NodeSpec<R = unknown, Writes extends string = never> {
  /** Makes the node under a name. Its result goes to the key `output`, or to the one named like the node. Nothing is started. */
  build(name: string, output?: string): BuiltNode;
  /** Nodes at which it says by itself to go on. */
  readonly targets?: readonly string[];
  /** The type of the result; never there when the program runs. */
  readonly result?: R;
  /** The keys that it writes in addition; likewise. */
  readonly writes?: Writes;
}

/** Tells node makers from functions. */
export function isNodeSpec(value: unknown): value is NodeSpec {
  return typeof value === 'object' && value !== null && 'build' in value && typeof value.build === 'function';
}
