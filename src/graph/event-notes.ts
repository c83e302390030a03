import { errorText } from '../base/errors.js';
import { isPlainObject, type JsonObject } from '../base/json.js';
import { isWaitNote, type BudgetNote, type QueueNote, type StepNote } from '../events/event.js';
import { isGuardNote, isLoopNote, type GuardNote, type LoopNote } from '../events/step-notes.js';
import { isTrustNote, type TrustNote } from '../events/trust.js';
import { isSupervisionNote, type SupervisionNote } from '../events/supervision.js';
import type { GraphEvent } from './result.js';

/** An event inside a step; the step supplies the fields that it leaves out. */
type NoteEvent = Pick<GraphEvent, 'type' | 'metadata'> & Partial<GraphEvent>;

/** Turns a note of a running agent, tool or function into a graph event. */
export function noteEvent(note: Exclude<StepNote, { readonly kind: 'inner.call' }>, path: string): NoteEvent {
  if (isToldAsItIs(note)) {
    const { kind, ...metadata } = note;
    return { type: kind.replace('.', '_'), metadata };
  }
  switch (note.kind) {
    case 'event':
      return forwarded(note.event, path);
    case 'model.retrying': {
      const { model, error, delayMs } = note;
      return {
        type: 'model_retry',
        metadata: { model, error: errorText(error), code: error.code, delay_ms: delayMs },
      };
    }
    case 'model.failed': {
      const { error, kind: _kind, ...asked } = note;
      return { type: 'model_error', metadata: { ...asked, error: errorText(error), code: error.code } };
    }
    case 'model.fallback': {
      const { from, to, error } = note;
      return { type: 'model_fallback', metadata: { from, to, error: errorText(error), code: error.code } };
    }
    case 'model.ended': {
      const { kind: _kind, toolCalls, ...answered } = note;
      return { type: 'model_end', metadata: { ...answered, tool_calls: toolCalls } };
    }
    case 'prompt':
    case 'model.started':
    case 'model.delta':
    case 'tool.started':
    case 'tool.ended':
    case 'question':
    case 'answer':
    case 'items':
    case 'rounds':
    case 'memory':
    case 'warning': {
      const { kind, ...metadata } = note;
      return { type: TYPES[kind], metadata };
    }
  }
}

function isToldAsItIs(
  note: StepNote,
): note is LoopNote | SupervisionNote | GuardNote | TrustNote | QueueNote | BudgetNote {
  return isLoopNote(note) || isGuardNote(note) || isTrustNote(note) || isSupervisionNote(note) || isWaitNote(note);
}

const TYPES = {
  prompt: 'prompt',
  'model.started': 'model_start',
  'model.delta': 'model_delta',
  'tool.started': 'tool_start',
  'tool.ended': 'tool_end',
  question: 'question',
  answer: 'question_answer',
  items: 'map_items',
  rounds: 'loop_rounds',
  memory: 'memory',
  warning: 'warning',
} as const;

/** Forwards an event of an agent, or of a graph that a function ran; anything else becomes a `custom` event. */
function forwarded(event: JsonObject, path: string): NoteEvent {
  const { type, source, parentEventId, eventId, node, runId, at, metadata, path: inner, ...rest } = event;
  if (typeof type !== 'string' || type === '') return { type: 'custom', metadata: event };
  return {
    type,
    metadata: isPlainObject(metadata) ? { ...rest, ...metadata } : rest,
    ...(typeof source === 'string' ? { source } : {}),
    ...(typeof parentEventId === 'string' ? { parentEventId } : {}),
    ...(typeof eventId === 'string' ? { eventId } : {}),
    ...(typeof runId === 'string' ? { runId } : {}),
    ...(typeof at === 'number' ? { at } : {}),
    ...(typeof node === 'string' ? { node } : {}),
    ...(typeof inner === 'string' && inner !== '' ? { path: `${path}/${inner}` } : {}),
  };
}
