import type { ErrorData } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';
import type { KeptKind } from '../base/kept.js';
import type { RunOutcome } from '../events/census.js';
import type { Label } from '../guard/label.js';
import type { Stored } from './record.js';

/**
 * One line of the journal of a thread (J12). A thread has the form of a run: a row, a lease, batches with a chain of sums, blobs. The lines
 * committed together end with a _head_: a `thread`, `turn`, `ended` or `edit`. So the last line contains how the thread stands, and where
 * the values of its state are. Each value is written once; of a growing value, only the additions are written.
 */
export type ThreadRecord = ThreadBegin | ShapeRecord | PutRecord | HeadRecord;

/** The last line of a commit. */
export type HeadRecord = ThreadBegin | TurnRecord | EndedRecord | EditRecord;

export interface ThreadBegin {
  readonly t: 'thread';
  readonly at: number;
  readonly thread: string;
  /** The turn of another thread that it was forked from. */
  readonly from?: { readonly thread: string; readonly turn: number };
  readonly state: ThreadState;
}

/** The places of a state's values. */
export interface ThreadState {
  readonly channels: Readonly<Record<string, ChannelPlace>>;
  /** Batch with the {@link ShapeRecord} of the workflow that wrote it. */
  readonly shape?: number;
  /** Label of the absence of values; absent if only the user influenced it. */
  readonly absent?: Label;
}

/** The place of a channel's value: written as a whole in the batch `from`, with additions in batches up to `at`. */
export interface ChannelPlace {
  readonly from: number;
  readonly at: number;
  /** Digest of its cell (J2). */
  readonly digest: string;
  readonly kind: KeptKind;
  /** Source of the value; absent if only the user. */
  readonly label?: Label;
}

export interface ShapeRecord {
  readonly t: 'shape';
  readonly at: number;
  readonly workflow: string;
  /** Ids of its nodes. */
  readonly steps: readonly string[];
  /** Its channels: names of reducers, and JSON Schemas if known. */
  readonly channels: JsonObject;
  /** If it differs, values may no longer fit. */
  readonly digest: string;
}

/** A value of a channel, or with `more` an addition to it: items, keys, text. */
export interface PutRecord extends Stored {
  readonly t: 'put';
  readonly at: number;
  readonly channel: string;
  readonly more?: true;
  /** True if the value is an input of the run. */
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
  /** Absent for a turn that is tried again. */
  readonly inputs?: Stored;
  /** Batch with the initial state of the turn. */
  readonly on: number;
}

/**
 * The end of a turn. With a `state` it counts; otherwise the state is still the one in the batch `on`. With both, the turn may be resumed,
 * and then leads to another state.
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
  /** Channels that its run wrote without changing their values. */
  readonly repeated?: readonly string[];
}

/** A person changed the state between two turns. */
export interface EditRecord {
  readonly t: 'edit';
  readonly at: number;
  /** Number of turns so far. */
  readonly turn: number;
  readonly who: string;
  readonly why: string;
  /** Names of the given channels. */
  readonly values: readonly string[];
  readonly state: ThreadState;
}
