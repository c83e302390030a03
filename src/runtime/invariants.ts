import type { Census } from '../events/census.js';

import { errorText, toErrorData } from '../base/errors.js';
import type { StepCheck, CheckedStep } from '../engine/services.js';
import { madeOf } from '../plan/made-of.js';

/**
 * What happens when an invariant does not hold. `ignore`: it is not even looked at. `observe`: a `contract_violation` event. `enforce`: the
 * event, and the run ends as failed; what still runs is aborted, and later invariants are not looked at. `quickEnforce`: the same, because a
 * run that ends never waits for what still runs.
 */
export type InvariantPolicy = 'ignore' | 'observe' | 'enforce' | 'quickEnforce';

/** What an invariant looks at. */
export interface InvariantView<S = Readonly<Record<string, unknown>>> {
  /** The state after the node; it can't be changed. */
  readonly state: S;
  /** Since the run began, by its clock: the same when the run is gone through again. */
  readonly elapsedMs: number;
  /** How many nodes ran so far. */
  readonly nodeCount: number;
  readonly errorCount: number;
  /** What the key `estimatedCostUsd` of the state holds, or `estimated_cost_usd`; 0 when nobody counts. */
  readonly estimatedCostUsd: number;
  /** Their names, in the order in which they ended. */
  readonly nodesRun: readonly string[];
}

/** Something that must hold after every node. */
export interface Invariant<S = Readonly<Record<string, unknown>>> {
  /** A function of what it looks at, without effects. One that throws does not hold. */
  predicate(view: InvariantView<S>): boolean;
  readonly message: string;
  /** Default: the policy of the graph. */
  readonly policy?: InvariantPolicy;
}

/** An invariant that did not hold after a node. */
export interface Violation {
  readonly index: number;
  readonly node: string;
  readonly path: string;
  readonly message: string;
  readonly policy: InvariantPolicy;
  /** What the predicate threw. */
  readonly predicateError: string | null;
  readonly elapsedMs: number;
  readonly nodeCount: number;
}

/** What is looked at, and who hears of it. */
interface Watched {
  readonly invariants: readonly Invariant[];
  readonly policy: InvariantPolicy;
  readonly violated: (violation: Violation) => void;
}

/** Looks at the invariants after each node of one run; undefined when there is nothing to look at. */
export function invariantCheck({ invariants, policy, violated }: Watched): StepCheck | undefined {
  const watched = invariants
    .map((invariant, index) => ({
      invariant,
      index,
      policy: invariant.policy ?? policy,
    }))
    .filter((one) => one.policy !== 'ignore');
  if (watched.length === 0) return undefined;
  const nodesRun: string[] = [];
  const check: StepCheck = (step) => {
    nodesRun.push(step.node);
    const view = viewOf(step, nodesRun);
    for (const { invariant, index, policy: what } of watched) {
      const failure = failureOf(invariant, view);
      if (failure === undefined) continue;
      const { node, path, elapsedMs } = step;
      const { message } = invariant;
      violated({ index, node, path, message, policy: what, ...failure, elapsedMs, nodeCount: view.nodeCount });
      if (what === 'observe') continue;
      return { code: 'SKEIN_INVARIANT', message: `workflow invariant violated (after '${node}'): ${message}` };
    }
    return undefined;
  };
  return madeOf(
    check,
    watched.map(({ invariant }): unknown => Reflect.get(invariant, 'predicate')),
  );
}

function viewOf({ state, census, elapsedMs }: CheckedStep, nodesRun: readonly string[]): InvariantView {
  const cost = state['estimatedCostUsd'] ?? state['estimated_cost_usd'];
  const nodeCount = nodesRun.length;
  return {
    state,
    elapsedMs,
    nodeCount,
    errorCount: errorsIn(census),
    estimatedCostUsd: typeof cost === 'number' ? cost : 0,
    // A copy of the list for every node of a long loop would cost more than the loop.
    get nodesRun() {
      return nodesRun.slice(0, nodeCount);
    },
  };
}

/** Undefined: it holds. */
function failureOf(invariant: Invariant, view: InvariantView): Pick<Violation, 'predicateError'> | undefined {
  try {
    const holds: unknown = invariant.predicate(view);
    if (typeof holds === 'boolean') return holds ? undefined : { predicateError: null };
    return { predicateError: `it must answer true or false at once, not ${typeof holds}` };
  } catch (error) {
    return { predicateError: errorText(toErrorData(error)) };
  }
}

/** How many steps failed so far. */
export function errorsIn({ degraded, failed, timed_out: timedOut, out_of_budget: exhausted }: Census): number {
  return degraded + failed + timedOut + exhausted;
}
