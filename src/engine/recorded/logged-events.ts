import type { JsonObject } from '../../base/json.js';
import type { SkeinEvent, StepNote } from '../../events/event.js';

const LOGGED_NOTES: ReadonlySet<StepNote['kind']> = new Set(['model.retrying', 'model.fallback', 'warning']);

/**
 * What is kept of an event for people who look at the run later; undefined when nothing is. Successes are left out: the record
 * of their outcome says it all.
 */
export function loggedBody(event: SkeinEvent): JsonObject | undefined {
  if (event.replayed === true) return undefined;
  switch (event.type) {
    case 'step.ended':
      return event.outcome === 'succeeded' ? undefined : bodyOf(event);
    case 'step.retrying':
    case 'run.warning':
      return bodyOf(event);
    case 'step.note':
      return LOGGED_NOTES.has(event.note.kind) ? bodyOf(event) : undefined;
    case 'run.started':
    case 'run.ended':
    case 'step.started':
      return undefined;
  }
}

function bodyOf(event: SkeinEvent): JsonObject {
  const { runId: _run, seq: _seq, at: _at, path: _path, parent: _parent, ...body } = event;
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}
