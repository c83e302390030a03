import type { Recorded } from '../../../journal/ledger.js';
import type { DoneRecord } from '../../../journal/record.js';
import type { Identity, StepOptions } from '../../ports/durable.js';

/**
 * The recorded outcome that holds for something that is started now (J2): its digest is the same, or one that counts as the same, and
 * whatever was read then is the same now.
 */
export function matching(
  candidates: readonly Recorded[],
  id: string | undefined,
  identity: Identity | undefined,
): Recorded | undefined {
  return candidates.find(
    ({ record }) => (record.id === id || isAlso(record.id, identity)) && readsTheSame(record.reads, identity),
  );
}

function readsTheSame(reads: DoneRecord['reads'], identity: Identity | undefined): boolean {
  if (reads === undefined) return true;
  for (const name of Object.keys(reads)) if (identity?.current?.(name) !== reads[name]) return false;
  return true;
}

function isAlso(recorded: string | undefined, identity: Identity | undefined): boolean {
  return recorded !== undefined && identity?.also?.().includes(recorded) === true;
}

/** Choosers and what frees resources are done again without a word. */
export function isPaidFor(options: StepOptions | undefined): boolean {
  return options?.pure !== true && options?.cleanup !== true;
}
