import type { Recorded } from '../../journal/ledger.js';
import type { Identity, StepOptions } from '../ports/durable.js';

/**
 * The recorded outcome that holds for something that is started now (J2): its digest is the same, or one that counts as the same, and
 * whatever was read then is the same now.
 */
export function matching(
  candidates: readonly Recorded[],
  id: string | undefined,
  identity: Identity | undefined,
): Recorded | undefined {
  return candidates.find(({ record }) => {
    if (record.id !== id && !isAlso(record.id, identity)) return false;
    const { reads } = record;
    if (reads === undefined) return true;
    return Object.entries(reads).every(([name, digest]) => identity?.current?.(name) === digest);
  });
}

function isAlso(recorded: string | undefined, identity: Identity | undefined): boolean {
  return recorded !== undefined && identity?.also?.().includes(recorded) === true;
}

/** Choosers and what frees resources are done again without a word. */
export function isPaidFor(options: StepOptions | undefined): boolean {
  return options?.pure !== true && options?.cleanup !== true;
}
