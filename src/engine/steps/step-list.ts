import type { Step } from './step.js';

/** Who knows the steps that are queued or running: a list through the steps themselves, so that it costs no memory of its own. */
export interface StepList {
  /** The newest one. */
  first: Step | undefined;
}

/** Adds a step, as the first. */
export function addStep(list: StepList, step: Step): void {
  const { first } = list;
  step.following = first;
  if (first !== undefined) first.previous = step;
  list.first = step;
}

/** Takes a step out. */
export function removeStep(list: StepList, step: Step): void {
  const { previous, following } = step;
  if (previous === undefined) list.first = following;
  else previous.following = following;
  if (following !== undefined) following.previous = previous;
}
