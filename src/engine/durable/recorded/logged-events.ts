import { madeOnce } from '../../../base/collections.js';
import { canonicalJson } from '../../../base/hash.js';
import { isPlainObject, type JsonObject } from '../../../base/json.js';
import type { InnerCall, SkeinEvent, StepNote } from '../../../events/event.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { LogRecord } from '../../../journal/record.js';
import type { OpenSession } from '../../../journal/session.js';

const LOGGED_NOTES: ReadonlySet<StepNote['kind']> = new Set([
  'model.admitted',
  'model.retrying',
  'model.fallback',
  'warning',
  'inner.call',
  'guard.decided',
  'guard.label',
  'guard.endorsed',
  // A loop that repeats itself has a warning of its own.
  'loop.round',
  'guard.verdict',
  'supervision.commit',
  'supervision.post',
  'supervision.reconcile',
  'supervision.verdict',
  'supervision.corrected',
  'supervision.accepted',
]);

/** Frequent notes: each visit after the first has a round, and each step a label. */
const NOT_WORTH_A_COMMIT: ReadonlySet<StepNote['kind']> = new Set(['loop.round', 'guard.label']);

/** The log of a run for people who look at it later. A replay logs only events that a process that died has not written. */
export class EventLog {
  private known: Set<string> | undefined = undefined;
  private calls: ReadonlyMap<string, readonly InnerCall[]> | undefined = undefined;
  /** Paths of steps that an earlier session ended without success. */
  readonly failedBefore: ReadonlySet<string>;

  /** `logs`: of earlier sessions of the run, then of each run that it was forked from. */
  constructor(
    private readonly logs: OpenSession['logs'],
    private readonly journal: Journal,
  ) {
    this.failedBefore = new Set(
      this.before.filter(({ body }) => body['type'] === 'step.ended').map(({ path }) => path),
    );
  }

  private get before(): readonly LogRecord[] {
    return this.logs[0] ?? [];
  }

  /** The calls of runs that the recorded attempt of a step had started. */
  innerCalls(path: string): readonly InnerCall[] {
    this.calls ??= innerCallsIn(this.logs);
    return this.calls.get(path) ?? [];
  }

  listen(event: SkeinEvent): void {
    const body = loggedBody(event);
    if (body !== undefined) this.write(event, body);
  }

  private write(event: SkeinEvent, body: JsonObject): void {
    if (event.replayed === true) {
      // The run that made the call has logged it, and pays for it.
      if (event.type === 'step.note' && event.note.kind === 'inner.call') return;
      this.known ??= new Set(this.before.map((record) => keyOf(record.path, record.body)));
      if (this.known.has(keyOf(event.path, asRead(body)))) return;
    }
    const isSmall = event.type === 'step.note' && NOT_WORTH_A_COMMIT.has(event.note.kind);
    this.journal.note(encodeRecord({ t: 'log', at: event.at, path: event.path, body }), isSmall);
  }
}

/**
 * By path, from the nearest run that has any of the step. Attempts that were followed by another do not count: nothing of them is used. An
 * attempt that failed last is continued by the next session, with the calls that it had made.
 */
function innerCallsIn(logs: OpenSession['logs']): ReadonlyMap<string, readonly InnerCall[]> {
  const found = new Map<string, readonly InnerCall[]>();
  for (const records of logs.toReversed()) {
    const own = new Map<string, InnerCall[]>();
    for (const { path, body } of records) {
      const { type, note } = body;
      if (isPlainObject(note) && note['kind'] === 'inner.call')
        madeOnce(own, path, () => []).push(note as unknown as InnerCall);
      else if (type === 'step.retrying') own.delete(path);
    }
    for (const [path, calls] of own) found.set(path, calls);
  }
  return found;
}

/** A call that is cut off again may have spent a different amount, so the amount does not distinguish lines. */
function keyOf(path: string, body: JsonObject): string {
  const { note } = body;
  const isCut = isPlainObject(note) && note['kind'] === 'model.failed';
  return `${path}\n${canonicalJson(isCut ? { ...note, error: null } : body)}`;
}

/** The logged part of an event. Successes arrive here only after another end of their steps; the records of outcomes cover all others. */
function loggedBody(event: SkeinEvent): JsonObject | undefined {
  switch (event.type) {
    case 'step.ended':
    case 'step.retrying':
    case 'run.warning':
      return bodyOf(event);
    case 'step.note':
      return LOGGED_NOTES.has(event.note.kind) || isCutOff(event.note) ? bodyOf(event) : undefined;
    case 'run.started':
    case 'run.ended':
    case 'run.resumed':
    case 'step.started':
      return undefined;
  }
}

/** A failed model call has a record, except for one whose step ended first. */
function isCutOff(note: StepNote): boolean {
  return note.kind === 'model.failed' && note.error.code === 'SKEIN_CANCELLED';
}

function bodyOf(event: SkeinEvent): JsonObject {
  const { runId: _run, seq: _seq, at: _at, path: _path, parent: _parent, replayed: _replayed, ...body } = event;
  return body as unknown as JsonObject;
}

/** The body as a reader of the journal gets it. Only a replay compares bodies, so only a replay pays for the copy. */
function asRead(body: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}
