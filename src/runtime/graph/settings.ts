import type { Invariant, InvariantPolicy } from './invariants.js';

/** Settings of a graph that matter when it runs. */
export interface RunningSettings {
  readonly invariants: readonly Invariant[];
  /** For invariants without a policy of their own. */
  readonly policy: InvariantPolicy;
  /** The input that takes the task when the graph is used as an agent. */
  readonly taskParam: string;
}
