import type { Recorded } from '../../journal/ledger.js';
import type { Identity } from '../ports/durable.js';

/**
 * The recorded outcome that holds for something that is started now (J2): its digest is the same, and whatever was read then is the
 * same now.
 */
export function matching(
  candidates: readonly Recorded[],
  id: string | undefined,
  identity: Identity | undefined,
): Recorded | undefined {
  return candidates.find(({ record }) => {
    if (record.id !== id) return false;
    const { reads } = record;
    if (reads === undefined) return true;
    return Object.entries(reads).every(([name, digest]) => identity?.current?.(name) === digest);
  });
}
