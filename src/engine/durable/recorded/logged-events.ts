import { canonicalJson } from '../../../base/hash.js';
import type { JsonObject } from '../../../base/json.js';
import type { SkeinEvent, StepNote } from '../../../events/event.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { LogRecord } from '../../../journal/record.js';

const LOGGED_NOTES: ReadonlySet<StepNote['kind']> = new Set(['model.retrying', 'model.fallback', 'warning']);

/**
 * The lines about a run for people who look at it later. What a replay tells again is kept only when it had not been written, because the
 * process died first.
 */
export class EventLog {
  private known: Set<string> | undefined = undefined;

  constructor(
    private readonly before: readonly LogRecord[],
    private readonly journal: Journal,
  ) {}

  listen(event: SkeinEvent): void {
    const body = loggedBody(event);
    if (body === undefined) return;
    if (event.replayed === true) {
      this.known ??= new Set(this.before.map((record) => keyOf(record.path, record.body)));
      if (this.known.has(keyOf(event.path, body))) return;
    }
    this.journal.note(encodeRecord({ t: 'log', at: event.at, path: event.path, body }));
  }
}

function keyOf(path: string, body: JsonObject): string {
  return `${path}\n${canonicalJson(body)}`;
}

/** What is kept. Successes are left out: the record of their outcome says it all. */
function loggedBody(event: SkeinEvent): JsonObject | undefined {
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
    case 'run.resumed':
    case 'step.started':
      return undefined;
  }
}

function bodyOf(event: SkeinEvent): JsonObject {
  const { runId: _run, seq: _seq, at: _at, path: _path, parent: _parent, replayed: _replayed, ...body } = event;
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}
