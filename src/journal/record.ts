import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import type { Census, RunOutcome } from '../events/census.js';
import type { Label } from '../guard/label.js';
import type { FreedArguments } from '../plan/tool-use.js';
import type { Waiting } from '../events/question.js';

/** Version of the records that this code writes. Older ones are lifted by `schema.ts`. */
export const RECORD_VERSION = 1;

/** One line of a journal. `at` is milliseconds since 1970; `v` is {@link RECORD_VERSION}. */
export type JournalRecord =
  BeginRecord | OpenRecord | StartRecord | SpentRecord | DoneRecord | TimerRecord | PauseRecord | LogRecord | EndRecord;

/** A value in place, or the digest of the blob that holds its JSON text. Neither: undefined. */
export interface Stored {
  readonly value?: Json;
  readonly blob?: string;
}

/** The first record: what the run is (J11). */
export interface BeginRecord {
  readonly t: 'begin';
  readonly at: number;
  readonly run: string;
  readonly name: string;
  /** What the run's random numbers derive from: its id, or that of the run it was forked from. */
  readonly seed: string;
  readonly parent?: string;
  /** The turn that it is, or that it was forked from. */
  readonly thread?: TurnOf;
  /** What had a say in that it was started, by a function of another run. */
  readonly influence?: Label;
  /** Paths of steps of which nothing that the parent recorded is used, nor of steps inside of them. */
  readonly forget?: readonly string[];
  /** What steps of the parent are taken to have given: by their paths, values by channel. */
  readonly set?: Stored;
  /** The plan. */
  readonly plan: Stored;
  /** Digests of the code nodes' functions, by key of the bindings: what an edit changes and the plan does not show. */
  readonly code: Readonly<Record<string, string>>;
  readonly inputs: Stored;
  /** What else decides about results: `RunSettings`. Runs of older versions have none. */
  readonly settings?: Stored;
  /** Whatever starts such a run again: flags, the workflow's file. */
  readonly origin: JsonObject;
}

/** A turn of a thread. */
export interface TurnOf {
  /** Id of the thread. */
  readonly id: string;
  /** Counts from 1. */
  readonly turn: number;
  /** Batch of the thread's journal with the state that the turn begins with. */
  readonly on: number;
}

/** A session: a process took the run. `plan`, `code`, `inputs`, `settings` when they differ from before. */
export interface OpenRecord {
  readonly t: 'open';
  readonly at: number;
  readonly fence: number;
  readonly plan?: Stored;
  readonly code?: Readonly<Record<string, string>>;
  readonly inputs?: Stored;
  readonly settings?: Stored;
}

/** An effect is about to start (J6), or something of it that a budget has to allow. */
export interface StartRecord {
  readonly t: 'start';
  readonly at: number;
  readonly key: string;
  readonly id?: string;
  /** What it may spend. Without an end of its own it counts as spent. */
  readonly reserved?: RecordedAmount;
  /** A {@link SpentRecord} with this number ends it. Absent: the outcome of the effect does. */
  readonly part?: number;
}

/** Something inside of an effect has spent this, or may have: the outcome of the effect does not say it. */
export interface SpentRecord {
  readonly t: 'spent';
  readonly at: number;
  readonly key: string;
  readonly spent: RecordedAmount;
  /** What it ends; absent: it has no start. */
  readonly part?: number;
  /** What was reserved last for the effect was not begun: it counts for nothing. */
  readonly unmade?: true;
}

/** An amount of a budget. */
export interface RecordedAmount {
  readonly usd: number;
  readonly tokens: number;
  readonly calls: number;
  readonly toolCalls: number;
}

/** The outcome of an effect, a timer or a signal. The order of these records is the order of delivery. */
export interface DoneRecord extends Stored {
  readonly t: 'done';
  readonly at: number;
  readonly key: string;
  /** Digest of what it depends on (J2). */
  readonly id?: string;
  /** What it read: digests by name. */
  readonly reads?: Readonly<Record<string, string>>;
  /** What runs that it started had heard. */
  readonly heard?: Label;
  /** Arguments of calls inside of it that a person left free. */
  readonly freed?: readonly FreedArguments[];
  /** Milliseconds that it took; absent for none. */
  readonly ms?: number;
  readonly error?: ErrorData;
  readonly cleanup?: true;
  /** Of an answer: where it came from. */
  readonly by?: string;
  /** It was used where it was asked for, and has no place in the order of delivery. */
  readonly inline?: true;
}

/** A timer was set. */
export interface TimerRecord {
  readonly t: 'timer';
  readonly at: number;
  readonly key: string;
  readonly id?: string;
  readonly due: number;
}

/** A question or an event is waited for (J10). */
export interface PauseRecord extends Waiting {
  readonly t: 'pause';
}

/** A question as it is recorded. */
export type RecordedQuestion = NonNullable<Waiting['question']>;

/** Something for people who look at the run: never needed to go on. `body` is the body of an event, without what a step wrote. */
export interface LogRecord {
  readonly t: 'log';
  readonly at: number;
  readonly path: string;
  readonly body: JsonObject;
}

/** The session ended in order. A run that was killed has none. */
export interface EndRecord {
  readonly t: 'end';
  readonly at: number;
  readonly outcome: RunOutcome;
  readonly census: Census;
  readonly error?: ErrorData;
}
