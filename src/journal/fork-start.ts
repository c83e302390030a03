import { nodePathOf, stepOf } from '../base/address.js';
import { affected } from '../plan/downstream.js';
import type { Plan } from '../plan/plan.js';
import { forgetting } from './forgotten.js';
import { forgottenBy } from './fork-from.js';
import type { ForkWish } from './fork-from.js';
import type { RunHistory } from './history.js';

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
 * @throws SkeinError `SKEIN_USAGE` for an address that no step has; `option` is what it was given with
 */
export function forkStart(parents: readonly RunHistory[], plan: Plan, wish: ForkWish, option = 'fork.from'): ForkStart {
  const forget = forgottenBy(plan, parents, wish, option);
  if (forget.length === 0) return { forget, steps: [] };
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
  if (wish.from === undefined) return { forget, steps: [...nodes] };
  const named = nodePathOf(wish.from);
  return { forget, steps: [named, ...affected(plan, { steps: [named] })].filter((path) => nodes.has(path)) };
}
