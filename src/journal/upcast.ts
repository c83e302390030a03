import { SkeinError } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';

/** Makes a record of the next version of one of this version. */
export type Lift = (record: JsonObject) => JsonObject;

/** The one place where older records are lifted: the first lifts version 1 to 2, and so on. The version that is written is one more. */
const LIFTS: readonly Lift[] = [];

/**
 * A record as this version of Skein has it.
 *
 * @throws SkeinError `SKEIN_JOURNAL` when a newer version wrote it, or it has no version
 */
export function upcast(record: JsonObject, lifts: readonly Lift[] = LIFTS): JsonObject {
  const { v } = record;
  const current = lifts.length + 1;
  if (v === current) return record;
  if (typeof v !== 'number' || !Number.isSafeInteger(v) || v < 1) {
    throw new SkeinError('SKEIN_JOURNAL', "its 'v' is not a record version");
  }
  if (v > current) {
    const message = `it was written by a newer Skein: it has version ${v} of the records, this Skein knows versions up to ${current}`;
    throw new SkeinError('SKEIN_JOURNAL', message, { hint: 'upgrade Skein to the version that ran it last' });
  }
  const lifted = lifts.slice(v - 1).reduce((older, lift) => lift(older), record);
  return { ...lifted, v: current };
}
