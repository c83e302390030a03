/** What happens when an invariant does not hold: nothing; an event; the run ends; the run ends without waiting for what still runs. */
export type InvariantPolicy = 'ignore' | 'observe' | 'enforce' | 'quickEnforce';

/** What an invariant looks at. */
export interface InvariantView<S = Readonly<Record<string, unknown>>> {
  readonly state: S;
  readonly elapsedMs: number;
  readonly nodeCount: number;
  readonly errorCount: number;
  readonly estimatedCostUsd: number;
  readonly nodesRun: readonly string[];
}

/** Something that must hold after every node. */
export interface Invariant<S = Readonly<Record<string, unknown>>> {
  predicate(view: InvariantView<S>): boolean;
  readonly message: string;
  /** Default: the policy of the graph. */
  readonly policy?: InvariantPolicy;
}
