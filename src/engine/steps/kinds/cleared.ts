import { isPlainObject } from '../../../base/json.js';

/** A name that no channel can have (FORBIDDEN_NAMES): under it stands, in what is recorded of an update, which channels it clears. */
const CLEARED = 'prototype';

/** An update as it is recorded: JSON has no undefined, and an update that clears a channel is not one that says nothing of it. */
export function recordedUpdate(update: unknown): unknown {
  if (!isPlainObject(update)) return update;
  const names = Object.keys(update).filter((name) => update[name] === undefined);
  return names.length === 0 ? update : { ...update, [CLEARED]: names };
}

/** The update that was recorded. */
export function updateOf(recorded: unknown): unknown {
  if (!isPlainObject(recorded) || !Object.hasOwn(recorded, CLEARED)) return recorded;
  const { [CLEARED]: names, ...update } = recorded;
  if (!Array.isArray(names)) return recorded;
  for (const name of names as unknown[]) if (typeof name === 'string') update[name] = undefined;
  return update;
}
