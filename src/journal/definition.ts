import { SkeinError } from '../base/errors.js';
import { diffPlans } from '../plan/diff.js';
import type { RunSettings } from '../plan/fields.js';
import type { Plan } from '../plan/plan.js';
import type { RunHistory } from './history.js';
import type { OpenRecord, Stored } from './record.js';
import type { BlobText, Store } from './store.js';
import { codeText, isRecordedPlan, readStored, storedPlan, storedValue, type StoredValue } from './stored.js';

export interface Definition {
  readonly plan: Plan;
  readonly code: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly settings: RunSettings;
}

/** Refuses a workflow that has no step in common with that of the run: it would only share the run id. */
function checkKinship(before: Plan, after: Plan, runId: string): void {
  const known = new Set(before.nodes.map(({ id }) => id));
  if (before.name === after.name || after.nodes.some(({ id }) => known.has(id))) return;
  throw new SkeinError(
    'SKEIN_USAGE',
    `the run ${runId} is of the workflow '${before.name}', which has no step in common with '${after.name}'`,
    { hint: 'give the workflow that it was begun with, or begin a run of its own' },
  );
}

/** Returns what a session changes in the definition. Positions in files do not count. */
export function changes(
  store: Store,
  { current, begin }: RunHistory,
  next: Definition,
): { fields: Partial<OpenRecord>; blobs: readonly BlobText[] } {
  const inputs = storedValue(next.inputs, 'the inputs');
  const settings = storedSettings(next);
  const newInputs = differs(current.inputs, inputs.stored);
  const newSettings = differs(current.settings, settings.stored);
  const plan = isOtherPlan(store, current.plan, next.plan, begin.run) ? storedPlan(next.plan) : undefined;
  return {
    fields: {
      ...(plan === undefined ? {} : { plan: plan.stored }),
      ...(JSON.stringify(current.code) !== codeText(next.code) ? { code: next.code } : {}),
      ...(newInputs ? { inputs: inputs.stored } : {}),
      ...(newSettings ? { settings: settings.stored } : {}),
    },
    blobs: [...(plan?.blobs ?? []), ...(newInputs ? inputs.blobs : []), ...(newSettings ? settings.blobs : [])],
  };
}

/** Compares plans only if their texts differ, which is rare. */
function isOtherPlan(store: Store, before: Stored, next: Plan, runId: string): boolean {
  if (isRecordedPlan(before, next)) return false;
  const plan = readStored(store, before) as Plan;
  checkKinship(plan, next, runId);
  const diff = diffPlans(plan, next);
  return diff.steps.length + diff.inputs.length + diff.plan.length > 0;
}

export function storedSettings({ settings }: Definition): StoredValue {
  return storedValue(settings, 'the settings');
}

function differs(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}
