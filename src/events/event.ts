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

/** Fields of every event. `seq` counts from 0 without gaps; `at` is milliseconds since 1970 by the run's clock. */
export interface EventBase {
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  /** Address of the step, `review/loop#3/critic`. Empty for the run itself. */
  readonly path: string;
  /** Path of the step that contains this one. Empty at the top. */
  readonly parent: string;
  /** True if the event comes from the record of the run or of its parent: it was reported and paid when it first happened. */
  readonly replayed?: true;
}

/** The content of an event, as JSON. {@link SkeinEvent} is the whole event. */
export type EventBody =
  | { readonly type: 'run.started'; readonly plan: string; readonly nodes: number }
  /** A continued run has replayed its record: steps that are still open do new work from here on. */
  | { readonly type: 'run.resumed' }
  | {
      readonly type: 'run.ended';
      readonly outcome: RunOutcome;
      readonly census: Census;
      readonly error?: ErrorData;
      /** Spending of this session. */
      readonly spent: Spending;
    }
  | { readonly type: 'step.started'; readonly node: string; readonly kind: string; readonly visit: number }
  | { readonly type: 'step.retrying'; readonly attempt: number; readonly delayMs: number; readonly error: ErrorData }
  | (StepEnding & {
      readonly type: 'step.ended';
      readonly node: string;
      readonly kind: string;
      readonly attempts: number;
      /** The values it wrote, by channel. */
      readonly update?: Readonly<Record<string, unknown>>;
      /** The nodes that its routes chose. Absent without routes. */
      readonly to?: readonly string[];
      /** With the option `streamState`: the state after the step, read-only. */
      readonly state?: Readonly<Record<string, unknown>>;
    })
  | { readonly type: 'run.warning'; readonly code: string; readonly message: string }
  | { readonly type: 'step.note'; readonly note: StepNote };

/** What an executor reports about its step while it runs. */
export type StepNote =
  /** The prompt is rendered and has not been sent yet. */
  | { readonly kind: 'prompt'; readonly system: string; readonly prompt: string; readonly model: string }
  | (Asking & { readonly kind: 'model.started' })
  | QueueNote
  /** A piece of text as it arrives. Lost pieces do no harm: `model.ended` has the whole text. */
  | { readonly kind: 'model.delta'; readonly text: string }
  | { readonly kind: 'model.retrying'; readonly model: string; readonly error: ErrorData; readonly delayMs: number }
  /** A call failed; other notes report what follows. `SKEIN_CANCELLED`: the step ended first, and the error holds its maximum spending. */
  | (Asking & { readonly kind: 'model.failed'; readonly error: ErrorData })
  | { readonly kind: 'model.fallback'; readonly from: string; readonly to: string; readonly error: ErrorData }
  | (Asking & {
      readonly kind: 'model.ended';
      readonly text: string;
      readonly usage: Usage;
      /** Absent if the price of the model is unknown. */
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
  /** The step asks a person, or a record shows that it did. */
  | AskedNote
  /** The question is answered, with a text or with a value as JSON. */
  | { readonly kind: 'answer'; readonly answer: string }
  /** A map has read its list. */
  | { readonly kind: 'items'; readonly count: number }
  /** A loop has read its maximum number of rounds from a value. */
  | { readonly kind: 'rounds'; readonly count: number }
  | LoopNote
  | { readonly kind: 'memory'; readonly mode: 'append' | 'replace'; readonly text: string }
  | { readonly kind: 'warning'; readonly code: string; readonly message: string }
  /** Emitted by a function (`step.emit`). */
  | { readonly kind: 'event'; readonly event: JsonObject }
  | SupervisionNote
  | TrustNote
  | GuardNote;

/** A call waits because a limit of a budget has not enough left at present. */
export interface BudgetWaiting {
  readonly kind: 'budget.waiting';
  /** Name of the limit: `run`, `step review`. */
  readonly limit: string;
  readonly measure: 'usd' | 'tokens' | 'calls' | 'toolCalls' | 'time';
  readonly spent: number;
  readonly reserved: number;
  /** The amount the limit allows. */
  readonly of: number;
  /** The most that the call may spend. */
  readonly wanted: number;
  /** The same in words: `waits for the budget of the run: $0.40 of $0.50 spent; it may take $0.0312`. */
  readonly message: string;
}

/** A call waits for budget, or its wait has ended: there is enough, or there never will be. */
export type BudgetNote = BudgetWaiting | { readonly kind: 'budget.admitted' };

/** A run that a function of the step started has called a model. The call counts toward the spending of the step. */
export interface InnerCall extends Spent {
  readonly kind: 'inner.call';
  /** True if the call returned no answer. */
  readonly failed?: true;
}

/** A call of a model. */
export interface Asking {
  readonly turn: number;
  readonly model: string;
  /** Present if the call supervises the step: its text is not the step's own work. */
  readonly phase?: Phase;
}

/** A call that waits because its provider limits calls. */
export type QueueNote =
  /** The call waits behind this many others and has not been made yet. */
  | (Asking & { readonly kind: 'model.queued'; readonly ahead: number })
  /** The call is made. */
  | (Asking & { readonly kind: 'model.admitted'; readonly waitedMs: number });

const WAITS: ReadonlySet<StepNote['kind']> = new Set([
  'model.queued',
  'model.admitted',
  'budget.waiting',
  'budget.admitted',
]);

/** Whether a note is about the wait of a call for its provider or for budget. */
export function isWaitNote(note: StepNote): note is QueueNote | BudgetNote {
  return WAITS.has(note.kind);
}

/** A question opens. The result of the run and stores report it in the same form. */
export interface AskedNote extends OpenQuestion {
  readonly kind: 'question';
  readonly question: string;
}

/** One event of a run. */
export type SkeinEvent = EventBase & EventBody;

/** Receives events. A listener that throws, at once or later, or is slow never fails a run. One that throws is not called again. What it returns is ignored. */
export type Listener = (event: SkeinEvent) => void;

/** Whether a step starts again because it failed or was not accepted. Its earlier work, and that of steps inside it, does not count. */
export function beginsAgain(event: SkeinEvent): boolean {
  return event.type === 'step.retrying' || (event.type === 'step.note' && event.note.kind === 'supervision.corrected');
}
