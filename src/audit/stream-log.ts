import type { ErrorData } from '../base/errors.js';
import { isWaitNote, type BudgetNote, type QueueNote, type StepNote } from '../events/event.js';
import { isTrustNote, type TrustNote } from '../events/trust.js';
import type { StepOutcome } from '../events/census.js';
import { isGuardNote, type GuardNote, type LoopNote } from '../events/step-notes.js';
import { isSupervisionNote, type SupervisionNote } from '../events/supervision.js';
import { callFields } from './record-fields.js';
import type { RedactedStream, Redactor } from '../secrets/redact.js';

/** Why a model's text is not output: tool calls followed, the call or step failed, it was refused or is redone, or it became data. */
type VoidReason = 'tool-calls' | 'failed' | 'asked-again' | 'not-accepted' | 'rewritten';

type OwnNote = Exclude<
  StepNote,
  | SupervisionNote
  | GuardNote
  | TrustNote
  | LoopNote
  | QueueNote
  | BudgetNote
  | { readonly kind: 'model.delta' | 'model.failed' | 'inner.call' | 'items' | 'rounds' }
>;

/**
 * Converts the notes of one agent step to the lines of its `stream.jsonl`: `{ ts, type, data? }`, one JSON object per line. The deltas
 * since the last `assistant.message_void` are exactly the output of the step.
 */
export class StreamLog {
  private readonly deltas: RedactedStream;
  /** The text written since the last line that made deltas void. */
  private said = '';
  private turn = 0;

  constructor(
    private readonly redactor: Redactor,
    private readonly write: (lines: string) => void,
  ) {
    this.deltas = redactor.stream();
  }

  /** Writes how the text has changed since the last round. */
  round({ kind, ...data }: LoopNote, at: number): void {
    this.flush(at);
    this.line(at, kind, data);
  }

  /** Other notes, or the end of the step, report the consequence of a failed call. */
  note(
    note: Exclude<StepNote, { readonly kind: 'model.failed' | 'inner.call' | 'items' | 'rounds' } | LoopNote>,
    at: number,
  ): void {
    if (note.kind === 'model.delta') {
      this.delta(this.deltas.push(note.text), at);
      return;
    }
    this.flush(at);
    if (isSupervisionNote(note)) this.supervised(note, at);
    else if (isTrustNote(note)) this.decided(note, at);
    else if ('phase' in note) return;
    else if (isWaitNote(note)) this.waits(note, at);
    else if (isGuardNote(note)) this.decided(note, at);
    else this.own(note, at);
  }

  private supervised({ kind, ...data }: SupervisionNote, at: number): void {
    if (kind === 'supervision.corrected') this.makeVoid('not-accepted', at);
    this.line(at, kind, data);
  }

  /** Writes a decision about labels, or a verdict on a call before it is made. */
  private decided({ kind, ...data }: TrustNote | GuardNote, at: number): void {
    this.line(at, kind, data);
  }

  private waits(note: QueueNote | BudgetNote, at: number): void {
    if (note.kind === 'budget.waiting' || note.kind === 'budget.admitted') {
      const { kind, ...short } = note;
      this.line(at, kind, short);
      return;
    }
    const { kind, turn, model, ...more } = note;
    const how = 'ahead' in more ? more : { waited_ms: more.waitedMs };
    this.line(at, kind === 'model.queued' ? 'assistant.turn_queued' : 'assistant.turn_admitted', {
      turn,
      model,
      ...how,
    });
  }

  /** Writes the step's own work. Supervising models are not part of it. */
  private own(note: OwnNote, at: number): void {
    switch (note.kind) {
      case 'model.started':
        this.makeVoid('asked-again', at);
        this.turn = note.turn;
        this.line(at, 'assistant.turn_start', { turn: note.turn, model: note.model });
        break;
      case 'model.ended':
        if (this.said === '') this.delta(this.redactor.text(note.text), at);
        this.line(at, 'assistant.turn_end', {
          turn: note.turn,
          model: note.model,
          tool_calls: note.toolCalls,
          ...callFields(note),
        });
        if (note.toolCalls > 0) this.makeVoid('tool-calls', at);
        break;
      case 'model.retrying':
        this.makeVoid('failed', at);
        this.line(at, 'assistant.turn_retry', {
          model: note.model,
          ...reason(note.error),
          delay_ms: note.delayMs,
        });
        break;
      case 'model.fallback':
        this.makeVoid('failed', at);
        this.line(at, 'assistant.turn_fallback', { from: note.from, to: note.to, ...reason(note.error) });
        break;
      case 'tool.started':
        this.line(at, 'tool.execution_start', { id: note.id, tool: note.tool, args: JSON.stringify(note.input) });
        break;
      case 'tool.ended': {
        const status = note.status === 'ok' ? 'completed' : 'failed';
        this.line(at, 'tool.execution_complete', { id: note.id, tool: note.tool, status, result: note.output });
        break;
      }
      case 'question': {
        const choices = note.choices === undefined ? {} : { choices: note.choices };
        this.line(at, 'user.input_requested', { prompt: note.question, ...choices });
        break;
      }
      case 'answer':
        this.line(at, 'user.input_response', note.answer);
        break;
      case 'warning':
        this.line(at, 'session.warning', { code: note.code, message: note.message });
        break;
      case 'prompt':
      case 'memory':
      case 'event':
        break;
    }
  }

  retrying(attempt: number, error: ErrorData, at: number): void {
    this.flush(at);
    this.makeVoid('failed', at);
    this.line(at, 'session.retry', { attempt, ...reason(error) });
  }

  /** The step succeeded. `output` is its answer as in `output.md`, if it has one. */
  succeeded(output: string | undefined, at: number): void {
    this.flush(at);
    if (output !== undefined) this.settle(this.redactor.text(output), at);
    this.line(at, 'session.idle');
  }

  /** A paused session continues later, so it gets no last line. */
  stopped(outcome: Exclude<StepOutcome, 'succeeded'>, why: string, at: number): void {
    this.flush(at);
    if (outcome === 'paused' || outcome === 'skipped') return;
    this.makeVoid('failed', at);
    this.line(at, 'session.error', why);
  }

  /** Deltas may be missing, and an answer parsed as JSON is kept as its value: makes the deltas equal to what is kept. */
  private settle(safe: string, at: number): void {
    if (safe === this.said) return;
    this.makeVoid('rewritten', at);
    this.delta(safe, at);
  }

  private makeVoid(why: VoidReason, at: number): void {
    if (this.said === '') return;
    this.said = '';
    this.line(at, 'assistant.message_void', { turn: this.turn, reason: why });
  }

  private flush(at: number): void {
    this.delta(this.deltas.flush(), at);
  }

  private delta(safe: string, at: number): void {
    if (safe === '') return;
    this.said += safe;
    this.line(at, 'assistant.message_delta', safe);
  }

  private line(at: number, type: string, data?: unknown): void {
    const line = { ts: new Date(at).toISOString(), type, ...(data === undefined ? {} : { data }) };
    this.write(`${this.redactor.json(line)}\n`);
  }
}

function reason(error: ErrorData): { readonly error: string; readonly error_code: string } {
  return { error: error.message, error_code: error.code };
}
