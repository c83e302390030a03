import { nodePathOf, stepOf } from '../base/address.js';
import { affected } from '../plan/downstream.js';
import type { Plan } from '../plan/plan.js';
import { forgetting } from './forgotten.js';
import { forgottenBy } from './fork-from.js';
import { familyOf } from './session.js';
import type { Store } from './store.js';

/** What begins again in a fork. */
export interface ForkStart {
  /** What the fork forgets of its parents. */
  readonly forget: readonly string[];
  /** Paths by ids alone of the steps of which recorded results are forgotten, in the order of the plan behind the one that was named. */
  readonly steps: readonly string[];
}

/**
 * What a fork of a run from one of its steps does again.
 *
 * @throws SkeinError `SKEIN_USAGE` for an address that no step has; `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 * @example
 * forkStart(store, runId, plan, { from: 'review#2', option: '--from' }).steps; // ['review', 'draft']
 */
export function forkStart(
  store: Store,
  runId: string,
  plan: Plan,
  { from, option }: { readonly from: string; readonly option: string },
): ForkStart {
  const parents = familyOf(store, runId);
  const forget = forgottenBy(plan, parents, { from }, option);
  const isForgotten = forgetting(forget);
  const nodes = new Set<string>();
  for (const { entries } of parents) {
    for (const key of entries.keys()) {
      const step = stepOf(key);
      if (!isForgotten(step)) continue;
      const ids = nodePathOf(step).split('/');
      for (let count = 1; count <= ids.length; count += 1) nodes.add(ids.slice(0, count).join('/'));
    }
  }
  const named = nodePathOf(from);
  return { forget, steps: [named, ...affected(plan, { steps: [named] })].filter((path) => nodes.has(path)) };
}
