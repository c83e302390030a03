import { isPlainObject, type Json, type JsonObject } from '../base/json.js';
import type { Plan, PlanNode } from '../plan/plan.js';
import { forgetting } from './forgotten.js';
import type { RunHistory } from './history.js';
import type { OverviewFold } from './overview-fold.js';
import { closingIn } from './overview-trace.js';
import type { RunOverview, StepOverview } from './run-overview.js';
import { readStored } from './stored.js';
import type { Store } from './store.js';

interface Fork {
  readonly store: Store;
  readonly history: RunHistory;
  readonly fold: OverviewFold;
  readonly nodeAt: (path: string) => PlanNode | undefined;
}

/**
 * The steps that a fork took over from its parents, with the values that it set: they succeeded or were skipped there, are not forgotten,
 * did not happen here, and closed no run.
 */
export function takenSteps({ store, history, fold, nodeAt }: Fork, read: (run: string) => RunOverview): StepOverview[] {
  const { parent, forget = [] } = history.begin;
  if (parent === undefined) return [];
  const edits = editsOf(store, history);
  const isForgotten = forgetting(forget);
  const closes = closingIn(readStored(store, history.current.plan) as Plan);
  return read(parent)
    .steps.filter(({ path, outcome }) => {
      if (closes(path)) return false;
      const counts = outcome === 'succeeded' || outcome === 'skipped';
      const known = nodeAt(path) !== undefined;
      return counts && known && !fold.happened(path) && !isForgotten(path);
    })
    .map((step) => {
      const taken = { ...step, from: step.from ?? parent };
      const own = Object.hasOwn(edits, step.path) ? edits[step.path] : undefined;
      return own === undefined ? taken : { ...taken, ...setValues(taken, own, nodeAt(step.path)) };
    });
}

export function parentOf({ store, history }: Pick<Fork, 'store' | 'history'>): Pick<RunOverview, 'parent'> {
  const { parent, forget = [] } = history.begin;
  if (parent === undefined) return {};
  const set = [...new Set(Object.values(editsOf(store, history)).flatMap(Object.keys))];
  return { parent: { id: parent, forgotten: forget, ...(set.length === 0 ? {} : { set }) } };
}

function editsOf(store: Store, { begin: { set } }: RunHistory): Readonly<Record<string, JsonObject>> {
  return set === undefined ? {} : (readStored(store, set) as Readonly<Record<string, JsonObject>>);
}

/** What the run has in place of a step's own result. */
function setValues(
  { output }: StepOverview,
  own: Readonly<Record<string, unknown>>,
  node: PlanNode | undefined,
): Pick<StepOverview, 'set' | 'output'> {
  const set = Object.keys(own);
  if (output === undefined) return { set };
  const key = node?.output;
  if (key !== undefined && Object.hasOwn(own, key)) return { set, output: own[key] as Json };
  return isPlainObject(output) ? { set, output: { ...output, ...own } as Json } : { set };
}
