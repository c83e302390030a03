import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import type { Census, RunOutcome, StepEnding } from './census.js';
import type { Cost, Spent, Usage } from './cost.js';
import type { TrustNote } from './trust.js';
import type { OpenQuestion } from './question.js';
import type { Spending } from './spending.js';
import type { GuardNote, LoopNote } from './step-notes.js';
import type { Phase, SupervisionNote } from './supervision.js';

export type { Cost, Spent, Usage } from './cost.js';
export type { ModelSpending, Spending } from './spending.js';

/** What every event has. `seq` counts from 0 without gaps; `at` is milliseconds since 1970 by the run's clock. */
export interface EventBase {
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  /** Address of the step, `review/loop#3/critic`; empty for the run itself. */
  readonly path: string;
  /** Path of the step that this one runs inside; empty at the top. */
  readonly parent: string;
  /** It comes from the record of the run, or of the one that it was forked from: it was reported before, and paid, when it happened. */
  readonly replayed?: true;
}

/** What happened. Bodies are JSON; see {@link SkeinEvent} for the whole event. */
export type EventBody =
  | { readonly type: 'run.started'; readonly plan: string; readonly nodes: number }
  /** A run that goes on has gone through its record: steps that are open work here from now on. */
  | { readonly type: 'run.resumed' }
  | {
      readonly type: 'run.ended';
      readonly outcome: RunOutcome;
      readonly census: Census;
      readonly error?: ErrorData;
      /** What this session spent. */
      readonly spent: Spending;
    }
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
  | QueueNote
  /** A piece of text as it arrives; lost pieces do no harm, `model.ended` has the whole. */
  | { readonly kind: 'model.delta'; readonly text: string }
  | { readonly kind: 'model.retrying'; readonly model: string; readonly error: ErrorData; readonly delayMs: number }
  /** A call failed; what comes of that is told apart. `SKEIN_CANCELLED`: its step ended first, and it spent what the error says at most. */
  | (Asking & { readonly kind: 'model.failed'; readonly error: ErrorData })
  | { readonly kind: 'model.fallback'; readonly from: string; readonly to: string; readonly error: ErrorData }
  | (Asking & {
      readonly kind: 'model.ended';
      readonly text: string;
      readonly usage: Usage;
      /** Absent: the price of the model is unknown. */
      readonly cost?: Cost;
      readonly toolCalls: number;
    })
  | BudgetNote
  | InnerCall
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
  /** A loop has learned from a value how many rounds it makes at most. */
  | { readonly kind: 'rounds'; readonly count: number }
  | LoopNote
  | { readonly kind: 'memory'; readonly mode: 'append' | 'replace'; readonly text: string }
  | { readonly kind: 'warning'; readonly code: string; readonly message: string }
  /** Told from inside of a function (`step.emit`). */
  | { readonly kind: 'event'; readonly event: JsonObject }
  | SupervisionNote
  | TrustNote
  | GuardNote;

/** A call waits in line: a limit of a budget has not enough for now. */
export interface BudgetWaiting {
  readonly kind: 'budget.waiting';
  /** Name of the limit: `run`, `step review`. */
  readonly limit: string;
  readonly measure: 'usd' | 'tokens' | 'calls' | 'toolCalls' | 'time';
  readonly spent: number;
  readonly reserved: number;
  /** What the limit allows. */
  readonly of: number;
  /** What the call may take. */
  readonly wanted: number;
  /** The same in words: `waits for the budget of the run: $0.40 of $0.50 spent; it may take $0.0312`. */
  readonly message: string;
}

/** A call waits for budget, or waits no longer: there is enough, or there won't be. */
export type BudgetNote = BudgetWaiting | { readonly kind: 'budget.admitted' };

/** A run that a function of the step started has called a model: it is part of what the step spends. */
export interface InnerCall extends Spent {
  readonly kind: 'inner.call';
  /** It has no answer. */
  readonly failed?: true;
}

/** A model is asked. */
export interface Asking {
  readonly turn: number;
  readonly model: string;
  /** The call belongs to the supervision of the step: what the model says is not the work of the step. */
  readonly phase?: Phase;
}

/** The provider of a model takes only so many calls. */
export type QueueNote =
  /** The call waits, behind so many others. It was not made so far. */
  | (Asking & { readonly kind: 'model.queued'; readonly ahead: number })
  /** It is made now. */
  | (Asking & { readonly kind: 'model.admitted'; readonly waitedMs: number });

const WAITS: ReadonlySet<StepNote['kind']> = new Set([
  'model.queued',
  'model.admitted',
  'budget.waiting',
  'budget.admitted',
]);

/** A note about the time that a call waits for its provider, or for budget. */
export function isWaitNote(note: StepNote): note is QueueNote | BudgetNote {
  return WAITS.has(note.kind);
}

/** A question opens: the same is told of it in the result of the run and in what is read of a store. */
export interface AskedNote extends OpenQuestion {
  readonly kind: 'question';
  readonly question: string;
}

/** One event of a run. */
export type SkeinEvent = EventBase & EventBody;

/** Receives events. A listener that throws or is slow never fails a run; it is told nothing back. */
export type Listener = (event: SkeinEvent) => void;

/** Whether a step does its work again: it failed, or it was not accepted. What it did before, and what ran inside of it, does not count. */
export function beginsAgain(event: SkeinEvent): boolean {
  return event.type === 'step.retrying' || (event.type === 'step.note' && event.note.kind === 'supervision.corrected');
}
