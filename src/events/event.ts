import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import type { Census, RunOutcome, StepEnding } from './census.js';
import type { OpenQuestion } from './question.js';
import type { Phase, SupervisionNote } from './supervision.js';

/** What every event has. `seq` counts from 0 without gaps; `at` is milliseconds since 1970 by the run's clock. */
export interface EventBase {
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  /** Address of the step, `review/loop#3/critic`; empty for the run itself. */
  readonly path: string;
  /** Path of the step that this one runs inside; empty at the top. */
  readonly parent: string;
  /** The run is being gone through again from its record: this was reported before, when it happened. */
  readonly replayed?: true;
}

/** What happened. Bodies are JSON; see {@link SkeinEvent} for the whole event. */
export type EventBody =
  | { readonly type: 'run.started'; readonly plan: string; readonly nodes: number }
  /** A run that goes on has gone through its record: steps that are open work here from now on. */
  | { readonly type: 'run.resumed' }
  | { readonly type: 'run.ended'; readonly outcome: RunOutcome; readonly census: Census; readonly error?: ErrorData }
  | { readonly type: 'step.started'; readonly node: string; readonly kind: string; readonly visit: number }
  | { readonly type: 'step.retrying'; readonly attempt: number; readonly delayMs: number; readonly error: ErrorData }
  | (StepEnding & {
      readonly type: 'step.ended';
      readonly node: string;
      readonly kind: string;
      readonly attempts: number;
      /** What it wrote, by channel. */
      readonly update?: Readonly<Record<string, unknown>>;
      /** The nodes that its routes chose; absent without routes. */
      readonly to?: readonly string[];
      /** With the option `streamState`: the state that goes on from it, read-only. */
      readonly state?: Readonly<Record<string, unknown>>;
    })
  | { readonly type: 'run.warning'; readonly code: string; readonly message: string }
  | { readonly type: 'step.note'; readonly note: StepNote };

/** What an executor tells about its step while it runs. */
export type StepNote =
  /** The prompt is rendered; nothing has been sent yet. */
  | { readonly kind: 'prompt'; readonly system: string; readonly prompt: string; readonly model: string }
  | (Asking & { readonly kind: 'model.started' })
  /** A piece of text as it arrives; lost pieces do no harm, `model.ended` has the whole. */
  | { readonly kind: 'model.delta'; readonly text: string }
  | { readonly kind: 'model.retrying'; readonly model: string; readonly error: ErrorData; readonly delayMs: number }
  /** A call failed; what comes of that is told apart. */
  | (Asking & { readonly kind: 'model.failed'; readonly error: ErrorData })
  | { readonly kind: 'model.fallback'; readonly from: string; readonly to: string; readonly error: ErrorData }
  | (Asking & {
      readonly kind: 'model.ended';
      readonly text: string;
      readonly usage: Usage;
      readonly toolCalls: number;
    })
  | { readonly kind: 'tool.started'; readonly id: string; readonly tool: string; readonly input: Json }
  | {
      readonly kind: 'tool.ended';
      readonly id: string;
      readonly tool: string;
      readonly status: 'ok' | 'error';
      readonly output: string;
    }
  /** The step asks a person, or a record says that it did. */
  | AskedNote
  /** The question has its answer: its text, or its value as JSON. */
  | { readonly kind: 'answer'; readonly answer: string }
  /** A map has opened its list. */
  | { readonly kind: 'items'; readonly count: number }
  /** A round of a loop is over: the share of the lines of its texts that the round before did not have, from 0 to 1. */
  | { readonly kind: 'loop.round'; readonly round: number; readonly change: number }
  /** A round gave the texts of the one before; or of the one before that, and so did the round before (A B A B). */
  | { readonly kind: 'loop.repeated' | 'loop.oscillating'; readonly round: number }
  /** A loop has used all of its rounds, and goes on with the last one. */
  | { readonly kind: 'loop.capped'; readonly rounds: number }
  | { readonly kind: 'memory'; readonly mode: 'append' | 'replace'; readonly text: string }
  | { readonly kind: 'warning'; readonly code: string; readonly message: string }
  /** Told from inside of a function (`step.emit`). */
  | { readonly kind: 'event'; readonly event: JsonObject }
  | SupervisionNote;

/** A model is asked. */
export interface Asking {
  readonly turn: number;
  readonly model: string;
  /** The call belongs to the supervision of the step: what the model says is not the work of the step. */
  readonly phase?: Phase;
}

/** A question opens: the same is told of it in the result of the run and in what is read of a store. */
export interface AskedNote extends OpenQuestion {
  readonly kind: 'question';
  readonly question: string;
}

/** Tokens of a model call, as the provider counted them; 0 where it did not say. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
}

/** One event of a run. */
export type SkeinEvent = EventBase & EventBody;

/** Receives events. A listener that throws or is slow never fails a run; it is told nothing back. */
export type Listener = (event: SkeinEvent) => void;

/** Whether a step does its work again: it failed, or it was not accepted. What it did before, and what ran inside of it, does not count. */
export function beginsAgain(event: SkeinEvent): boolean {
  return event.type === 'step.retrying' || (event.type === 'step.note' && event.note.kind === 'supervision.corrected');
}
