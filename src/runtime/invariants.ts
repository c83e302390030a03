import type { Census } from '../events/census.js';

import { returnedType } from '../base/at-once.js';
import { errorText, toErrorData } from '../base/errors.js';
import type { StepCheck, CheckedStep } from '../engine/services.js';
import { madeOf } from '../plan/made-of.js';

/**
 * What happens when an invariant does not hold. `ignore`: it is not evaluated. `observe`: a `contract_violation` event. `enforce`: the
 * event, and the run fails; steps in progress are aborted, and later invariants are not evaluated. `quickEnforce`: same as `enforce`,
 * because a failing run never waits for steps in progress.
 */
export type InvariantPolicy = 'ignore' | 'observe' | 'enforce' | 'quickEnforce';

/** The values an invariant can check. */
export interface InvariantView<S = Readonly<Record<string, unknown>>> {
  /** The state after the node, frozen. */
  readonly state: S;
  /** Milliseconds since the run began, by the clock of the run: the same on replay. */
  readonly elapsedMs: number;
  /** Number of nodes that ran so far. */
  readonly nodeCount: number;
  readonly errorCount: number;
  /** The value of the state key `estimatedCostUsd` or `estimated_cost_usd`. 0 if neither holds a number. */
  readonly estimatedCostUsd: number;
  /** Names of the nodes, in the order in which they ended. */
  readonly nodesRun: readonly string[];
}

/** A condition that must hold after every node. */
export interface Invariant<S = Readonly<Record<string, unknown>>> {
  /** A function of the view, without side effects. The invariant does not hold if the function throws. */
  predicate(view: InvariantView<S>): boolean;
  readonly message: string;
  /** Defaults to the policy of the graph. */
  readonly policy?: InvariantPolicy;
}

export interface Violation {
  readonly index: number;
  readonly node: string;
  readonly path: string;
  readonly message: string;
  readonly policy: InvariantPolicy;
  /** The error that the predicate threw. Null if the predicate returned false. */
  readonly predicateError: string | null;
  readonly elapsedMs: number;
  readonly nodeCount: number;
}

interface Watched {
  readonly invariants: readonly Invariant[];
  readonly policy: InvariantPolicy;
  readonly violated: (violation: Violation) => void;
}

/** Returns a check that evaluates the invariants after each node of one run. Undefined if there is nothing to evaluate. */
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
    // Copying the list for every node of a long loop would cost more than the loop.
    get nodesRun() {
      return nodesRun.slice(0, nodeCount);
    },
  };
}

/** Undefined if the invariant holds. */
function failureOf(invariant: Invariant, view: InvariantView): Pick<Violation, 'predicateError'> | undefined {
  try {
    const holds: unknown = invariant.predicate(view);
    if (typeof holds === 'boolean') return holds ? undefined : { predicateError: null };
    return { predicateError: `it must answer true or false at once, not ${returnedType(holds)}` };
  } catch (error) {
    return { predicateError: errorText(toErrorData(error)) };
  }
}

export function errorsIn({ degraded, failed, timed_out: timedOut, out_of_budget: exhausted }: Census): number {
  return degraded + failed + timedOut + exhausted;
}
