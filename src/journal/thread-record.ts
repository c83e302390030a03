import type { ErrorData } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';
import type { KeptKind } from '../base/kept.js';
import type { RunOutcome } from '../events/census.js';
import type { Label } from '../guard/label.js';
import type { Stored } from './record.js';

/**
 * One line of the journal of a thread (J12). A thread has the form of a run: a row, a lease, batches with a chain of sums, blobs. What is
 * committed together ends with a _head_: a `thread`, `turn`, `ended` or `edit`. So the last line says how the thread stands, and where the
 * values of its state are: each is written once, of what grows only what came to it.
 */
export type ThreadRecord = ThreadBegin | ShapeRecord | PutRecord | HeadRecord;

/** A line that ends what is committed together. */
export type HeadRecord = ThreadBegin | TurnRecord | EndedRecord | EditRecord;

/** The first head. */
export interface ThreadBegin {
  readonly t: 'thread';
  readonly at: number;
  readonly thread: string;
  /** The turn of another thread that it was forked from. */
  readonly from?: { readonly thread: string; readonly turn: number };
  readonly state: ThreadState;
}

/** A state: where the values are. */
export interface ThreadState {
  readonly channels: Readonly<Record<string, ChannelPlace>>;
  /** Batch with the {@link ShapeRecord} of who wrote it. */
  readonly shape?: number;
  /** Label of what is not there; absent: only the user had a say in that. */
  readonly absent?: Label;
}

/** Where the value of a channel is: written as a whole in the batch `from`, with more in batches up to `at`. */
export interface ChannelPlace {
  readonly from: number;
  readonly at: number;
  /** Of its cell (J2). */
  readonly digest: string;
  readonly kind: KeptKind;
  /** Where it comes from; absent: from the user alone. */
  readonly label?: Label;
}

/** What the state is one of: written when it is not what it was. */
export interface ShapeRecord {
  readonly t: 'shape';
  readonly at: number;
  /** Name of the workflow. */
  readonly workflow: string;
  /** Ids of its nodes. */
  readonly steps: readonly string[];
  /** Its channels: names of reducers and JSON Schemas, as far as they are known. */
  readonly channels: JsonObject;
  /** Another digest: values may not fit any more. */
  readonly digest: string;
}

/** A value of a channel, or with `more` what came to it: items, keys, text. */
export interface PutRecord extends Stored {
  readonly t: 'put';
  readonly at: number;
  readonly channel: string;
  readonly more?: true;
  /** It is what the run was given. */
  readonly given?: true;
}

/** A turn is about to begin. */
export interface TurnRecord {
  readonly t: 'turn';
  readonly at: number;
  /** Counts from 1. */
  readonly turn: number;
  /** Id of its run. */
  readonly run: string;
  /** Absent: of a turn that is tried again. */
  readonly inputs?: Stored;
  /** Batch with the state that it begins with. */
  readonly on: number;
}

/**
 * A turn has ended. With a `state` it counts; else the state is still the one in the batch `on`. With both it may be resumed, and then has another
 * state.
 */
export interface EndedRecord {
  readonly t: 'ended';
  readonly at: number;
  readonly turn: number;
  readonly run: string;
  readonly outcome: RunOutcome;
  readonly error?: ErrorData;
  readonly on?: number;
  readonly state?: ThreadState;
  /** Channels that its run wrote, with the values that they had already. */
  readonly repeated?: readonly string[];
}

/** Somebody changed the state between two turns. */
export interface EditRecord {
  readonly t: 'edit';
  readonly at: number;
  /** Number of turns so far. */
  readonly turn: number;
  readonly who: string;
  readonly why: string;
  /** Names of the channels that were given. */
  readonly values: readonly string[];
  readonly state: ThreadState;
}
