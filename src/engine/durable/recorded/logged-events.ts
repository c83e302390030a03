import { canonicalJson } from '../../../base/hash.js';
import type { JsonObject } from '../../../base/json.js';
import type { SkeinEvent, StepNote } from '../../../events/event.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { LogRecord } from '../../../journal/record.js';

type ModelStarted = Extract<StepNote, { kind: 'model.started' }>;

const LOGGED_NOTES: ReadonlySet<StepNote['kind']> = new Set([
  'model.retrying',
  'model.fallback',
  'warning',
  // Of a loop that repeats itself there is a warning.
  'loop.round',
  'supervision.commit',
  'supervision.post',
  'supervision.reconcile',
  'supervision.verdict',
  'supervision.corrected',
  'supervision.accepted',
]);

/**
 * The lines about a run for people who look at it later. What a replay tells again is kept only when it had not been written, because the
 * process died first.
 */
export class EventLog {
  private known: Set<string> | undefined = undefined;
  /** Model calls that are under way, by step. */
  private readonly asked = new Map<string, ModelStarted>();

  constructor(
    private readonly before: readonly LogRecord[],
    private readonly journal: Journal,
  ) {}

  listen(event: SkeinEvent): void {
    const cut = this.cutOff(event);
    if (cut !== undefined) this.write(event, cut);
    const body = loggedBody(event);
    if (body !== undefined) this.write(event, body);
  }

  /** A model call that is under way when its step ends, such as at a timeout, has no record of its own, and was made all the same. */
  private cutOff(event: SkeinEvent): JsonObject | undefined {
    if (event.type === 'step.note') {
      if (event.note.kind === 'model.started') this.asked.set(event.path, event.note);
      if (event.note.kind === 'model.ended' || event.note.kind === 'model.failed') this.asked.delete(event.path);
      return undefined;
    }
    if (event.type !== 'step.ended' && event.type !== 'step.retrying') return undefined;
    const asked = this.asked.get(event.path);
    this.asked.delete(event.path);
    if (asked === undefined) return undefined;
    const error = { code: 'SKEIN_CANCELLED', message: 'its step ended first' };
    return { type: 'step.note', note: { ...asked, kind: 'model.failed', error } };
  }

  private write(event: SkeinEvent, body: JsonObject): void {
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
