import { SkeinError, textToRecord } from '../base/errors.js';
import { digestText } from '../base/hash.js';
import type { Json } from '../base/json.js';
import type { Plan } from '../plan/plan.js';
import { blobOf } from './codec.js';
import type { Stored } from './record.js';
import type { BlobText, Store } from './store.js';

/** A value in recorded form: in place, or as a blob. */
export interface StoredValue {
  readonly stored: Stored;
  readonly text: string;
  readonly blobs: readonly BlobText[];
}

/** Stored forms of immutable plans, since many runs have the same one. */
const plans = new WeakMap<Plan, StoredValue>();

export function storedPlan(plan: Plan): StoredValue {
  const stored = plans.get(plan) ?? storedValue(plan, 'the plan');
  if (Object.isFrozen(plan)) plans.set(plan, stored);
  return stored;
}

/** @throws SkeinError `SKEIN_NOT_JSON`, in which `what` names the value */
export function storedValue(value: unknown, what: string): StoredValue {
  const text = textToRecord(value, what, 'give plain JSON values');
  const blob = blobOf(text);
  if (blob === undefined) return { stored: { value: value as Json }, text: `{"value":${text}}`, blobs: [] };
  const place = { blob: blob.digest };
  return { stored: place, text: JSON.stringify(place), blobs: [blob] };
}

/** JSON texts of immutable digests of functions. */
const codeTexts = new WeakMap<object, string>();

/** JSON text of the digests of functions. */
export function codeText(code: Readonly<Record<string, string>>): string {
  const text = codeTexts.get(code) ?? JSON.stringify(code);
  if (Object.isFrozen(code)) codeTexts.set(code, text);
  return text;
}

export function isRecordedPlan(recorded: Stored, plan: Plan): boolean {
  return JSON.stringify(recorded) === storedPlan(plan).text;
}

/** @throws SkeinError `SKEIN_JOURNAL` if its blob is missing or damaged */
export function readStored(store: Store, stored: Stored): unknown {
  if (stored.blob === undefined) return stored.value;
  const text = store.blob(stored.blob);
  if (text !== undefined && digestText(text) === stored.blob) return JSON.parse(text);
  const what = text === undefined ? 'lost' : 'a damaged copy of';
  throw new SkeinError('SKEIN_JOURNAL', `the store has ${what} the value ${stored.blob}`);
}
