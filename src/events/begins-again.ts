import type { SkeinEvent } from './event.js';

/** Whether a step does its work again: it failed, or it was not accepted. What it did before, and what ran inside of it, does not count. */
export function beginsAgain(event: SkeinEvent): boolean {
  return event.type === 'step.retrying' || (event.type === 'step.note' && event.note.kind === 'supervision.corrected');
}
