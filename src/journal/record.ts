import type { ErrorData } from '../base/errors.js';
import type { Json, JsonObject } from '../base/json.js';
import type { Census, RunOutcome } from '../events/census.js';
import type { Label } from '../guard/label.js';
import type { FreedArguments } from '../plan/tool-use.js';
import type { Waiting } from '../events/question.js';

/** Version of the records that this code writes. `schema.ts` lifts older ones. */
export const RECORD_VERSION = 1;

/** One line of a journal. `at` is milliseconds since 1970; `v` is {@link RECORD_VERSION}. */
export type JournalRecord =
  BeginRecord | OpenRecord | StartRecord | SpentRecord | DoneRecord | TimerRecord | PauseRecord | LogRecord | EndRecord;

/** A value in place, or the digest of the blob that holds its JSON text. With neither, the value is undefined. */
export interface Stored {
  readonly value?: Json;
  readonly blob?: string;
}

/** The first record: the definition of the run (J11). */
export interface BeginRecord {
  readonly t: 'begin';
  readonly at: number;
  readonly run: string;
  readonly name: string;
  /** The seed of the run's random numbers: its id, or that of the run it was forked from. */
  readonly seed: string;
  readonly parent?: string;
  /** The thread's turn that this run is, or was forked from. */
  readonly thread?: TurnOf;
  /** What influenced its start by a function of another run. */
  readonly influence?: Label;
  /** Paths of steps whose records in the parent are not used, including those of steps inside them. */
  readonly forget?: readonly string[];
  /** Replaced outputs of the parent's steps: by path, values by channel. */
  readonly set?: Stored;
  readonly plan: Stored;
  /** Digests of the code nodes' functions, by key of the bindings: they change with edits that the plan does not show. */
  readonly code: Readonly<Record<string, string>>;
  readonly inputs: Stored;
  /** Other settings that influence results: `RunSettings`. Absent in runs of older versions. */
  readonly settings?: Stored;
  /** Everything needed to start such a run again: flags, the workflow's file. */
  readonly origin: JsonObject;
}

export interface TurnOf {
  readonly id: string;
  /** Counts from 1. */
  readonly turn: number;
  /** Batch of the thread's journal with the initial state of the turn. */
  readonly on: number;
}

/** A session: a process took the run. `plan`, `code`, `inputs` and `settings` are present if they have changed. */
export interface OpenRecord {
  readonly t: 'open';
  readonly at: number;
  readonly fence: number;
  readonly plan?: Stored;
  readonly code?: Readonly<Record<string, string>>;
  readonly inputs?: Stored;
  readonly settings?: Stored;
}

/** An effect is about to start (J6), or a part of it that a budget has to allow. */
export interface StartRecord {
  readonly t: 'start';
  readonly at: number;
  readonly key: string;
  readonly id?: string;
  /** The amount that it may spend. It counts as spent if it has no end of its own. */
  readonly reserved?: RecordedAmount;
  /** Number of the {@link SpentRecord} that ends it. Absent if the outcome of the effect ends it. */
  readonly part?: number;
}

/** A part of an effect has, or may have, spent this amount in addition to the outcome of the effect. */
export interface SpentRecord {
  readonly t: 'spent';
  readonly at: number;
  readonly key: string;
  readonly spent: RecordedAmount;
  /** Number of the start that it ends; absent if it has no start. */
  readonly part?: number;
  /** The last reservation for the effect was not used: it counts as nothing. */
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
  /** Digest of the dependencies (J2). */
  readonly id?: string;
  /** Digests of what it read, by name. */
  readonly reads?: Readonly<Record<string, string>>;
  /** Label of runs that it started. */
  readonly heard?: Label;
  /** Files that it, or those runs, wrote after something untrusted. */
  readonly wrote?: readonly string[];
  /** Arguments of calls inside that a person left free. */
  readonly freed?: readonly FreedArguments[];
  /** Duration in milliseconds; absent if it took none. */
  readonly ms?: number;
  readonly error?: ErrorData;
  readonly cleanup?: true;
  /** True if it failed before the call that it was to make: an effect that may be done only once did not begin. */
  readonly unmade?: true;
  /** The source of an answer. */
  readonly by?: string;
  /** True if it was used immediately, and has no place in the order of delivery. */
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

/** The run waits for a question or an event (J10). */
export interface PauseRecord extends Waiting {
  readonly t: 'pause';
}

export type RecordedQuestion = NonNullable<Waiting['question']>;

/** Information for people who look at the run; not needed to continue it. `body` is the body of an event, without the step's writes. */
export interface LogRecord {
  readonly t: 'log';
  readonly at: number;
  readonly path: string;
  readonly body: JsonObject;
}

/** The regular end of a session. A killed session has none. */
export interface EndRecord {
  readonly t: 'end';
  readonly at: number;
  readonly outcome: RunOutcome;
  readonly census: Census;
  readonly error?: ErrorData;
}
