import { SkeinError } from '../base/errors.js';

/**
 * The store port: where journals live. A store keeps lines of text and knows nothing about their meaning. It is synchronous, like the
 * embedded databases; a call returns only after its commit.
 *
 * Every method throws a SkeinError `SKEIN_STORE` if the medium fails (no space, an I/O error, a file that is not a database), and
 * `SKEIN_JOURNAL` if the data to return is damaged. A failed call changes nothing. The error is `retryable` if another process has locked
 * the store for too long.
 */
export interface Store {
  /** Absolute path of its file: agents' tools can't reach this file or files that the medium puts beside it. Absent if none. */
  readonly file?: string | undefined;
  /**
   * Creates the row of a new run, leases it with the fencing number 1, and commits its first batch: all or nothing.
   *
   * @throws SkeinError `SKEIN_RUN_EXISTS` if the id is taken
   */
  create(run: NewRun, holder: Holder, now: number, first?: FirstBatch): Lease;
  /**
   * Leases a run to a new holder. The fencing number grows, so the former holder can no longer write (J9).
   *
   * @throws SkeinError `SKEIN_NO_RUN`; `SKEIN_LEASE` while another holder's lease is good and that holder is not known to be dead
   */
  lease(runId: string, holder: Holder, now: number): Lease;
  /**
   * Extends leases until `now` + {@link LEASE_MS}, and notes how the runs stand. Returns false for each lease that another holder has
   * taken, true for the others.
   *
   * @throws SkeinError `SKEIN_STORE` also if the store was removed or replaced: writes no longer reach it
   */
  renew(leases: readonly RenewedLease[], now: number): readonly boolean[];
  /** Returns a lease and notes how the session ended. Does nothing if another holder has the run. */
  release(lease: Lease, end: SessionEnd): void;
  /**
   * Commits batches of any number of runs together, all or none (J5), with the blobs and lines of each batch. Returns false for a batch
   * whose lease is stale: that batch is not written (J9), the others are.
   */
  append(batches: readonly Batch[]): readonly boolean[];
  /** Returns the batches of a run in the order of appending: all of them, or `count` from `seq` on. */
  read(runId: string, seq?: number, count?: number): readonly StoredBatch[];
  /** Removes a run's batches from `seq` on: a torn tail. Requires a good lease. */
  cut(lease: Lease, seq: number): void;
  /** A blob by its digest; undefined if it does not exist. */
  blob(digest: string): string | undefined;
  run(runId: string): RunRow | undefined;
  /** Runs, newest first, including those with a damaged row, which have `damage`. */
  list(): readonly RunRow[];
  /** Ids of runs, in the same order. For many runs this takes a tenth of the time of `list`. */
  ids(): readonly string[];
  /** Rows of threads (`thread-rows.ts`), newest first. They are not runs. */
  threads(): readonly RunRow[];
  /** Notes how a run stands according to its journal. Needs no lease; does not replace a note for as many batches or more. */
  stand(runId: string, standing: RunStanding): void;
  /** Keeps the first answer to a question; returns false if it was answered before. Needs no lease: anybody may answer. */
  answer(runId: string, answer: Answer): boolean;
  /** Answers of a run, in the order of arrival. */
  answers(runId: string): readonly Answer[];
  /**
   * Changes what a run has spent and holds under keys that many runs share, and commits batches of the run with it: all or nothing. Returns
   * the resulting sums of each key, or undefined, without a change, if the sums of all runs under one key would exceed `most`. Reservations
   * of a session that is over, or whose process is known to have died, count as spent.
   *
   * @throws SkeinError `SKEIN_LEASE` if the lease is stale
   */
  spend(
    lease: Lease,
    changes: readonly SpendingChange[],
    now: number,
    batches?: readonly Batch[],
  ): readonly SharedSpending[] | undefined;
  /** What all runs have spent and hold under a key. */
  spending(key: string, now: number): SharedSpending;
  /** Requests that the process of a run cancels it. */
  requestCancel(runId: string): void;
  /**
   * Deletes runs with all their data, and unused blobs. Runs that are leased, or that others were forked from, stay. Their spending still
   * counts: under the key of a thread while the thread exists, under other keys for {@link SPENDING_MS} after the last change.
   */
  remove(runIds: readonly string[], now: number): readonly string[];
  close(): void;
}

/** Whether other processes have locked the store for longer than a statement waits: a later attempt may succeed. */
export function isLocked(error: unknown): boolean {
  return SkeinError.isInstance(error) && error.code === 'SKEIN_STORE' && error.retryable === true;
}

/** Milliseconds for which a lease is good. It is renewed three times as often. */
export const LEASE_MS = 15_000;

/** Minimum time for which spending under a key is kept, in milliseconds. */
export const SPENDING_MS = 48 * 3_600_000;

/** A process that runs a run. */
export interface Holder {
  /** Globally unique. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

/** The right to write to a run. */
export interface Lease {
  readonly runId: string;
  /** Grows with every holder. */
  readonly fence: number;
}

export interface RenewedLease extends Lease {
  readonly standing?: RunStanding;
}

/** How a run stands after a number of batches: a list of runs shows this without reading journals. */
export interface RunStanding {
  readonly batches: number;
  /** Number of steps with an end. */
  readonly steps: number;
  /** Milliseconds of all sessions together. */
  readonly ms: number;
  /** Questions and events waited for, including those whose answer the run has not taken yet. */
  readonly pauses: readonly { readonly key: string; readonly id: string }[];
}

export interface NewRun {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The run that it was forked from, or the row of the thread that it is a turn of. That row stays as long as this run. */
  readonly parent?: string;
}

/** How a session of a run ended. */
export interface SessionEnd {
  readonly outcome: string;
  readonly endedAt: number;
  readonly standing?: RunStanding;
}

/** A store's data about a run. */
export interface RunRow extends NewRun {
  readonly fence: number;
  /** Outcome of the last session; absent while it runs, or if its process died. */
  readonly outcome?: string;
  readonly endedAt?: number;
  /** The current holder; absent if there is none, or if its process is known to have died. */
  readonly holder?: Holder;
  /** End of the holder's lease. */
  readonly leasedUntil?: number;
  readonly cancelRequested: boolean;
  readonly batches: number;
  /** As last noted: the journal may have grown since. */
  readonly standing?: RunStanding;
  /** Why the row is not valid: only `id` and `name` are reported, as far as they are readable. */
  readonly damage?: string;
}

/** Outcomes of ended runs. */
export const ENDED: ReadonlySet<string | undefined> = new Set(['succeeded', 'degraded', 'failed', 'cancelled']);

/** True while a process holds the run, according to its lease. */
export function isHeld({ holder, leasedUntil }: RunRow, now: number): boolean {
  return holder !== undefined && leasedUntil !== undefined && leasedUntil > now;
}

/** Records to commit together. `text` is one JSON document a line, of one MiB at most. */
export interface Batch {
  readonly lease: Lease;
  /** Counts from 0 without gaps. */
  readonly seq: number;
  readonly text: string;
  /** Digest of the text and of the batch before. */
  readonly sum: string;
  readonly blobs?: readonly BlobText[];
  /** How the run stands with this batch. */
  readonly standing?: RunStanding;
  /** Changes of the run's spending and reservations in the same commit. `most` has no effect here. */
  readonly spending?: { readonly at: number; readonly changes: readonly SpendingChange[] };
}

/** The first batch of a new run. */
export type FirstBatch = Omit<Batch, 'lease' | 'seq' | 'spending'>;

export interface StoredBatch {
  readonly seq: number;
  readonly text: string;
  readonly sum: string;
  /** Position of the first non-text byte of a column. */
  readonly damage?: { readonly column: 'text' | 'sum'; readonly offset: number };
}

/** A large value, stored once by content. */
export interface BlobText {
  readonly digest: string;
  readonly text: string;
}

/** Integers by the unit they count, so that sums are exact. */
export type Counts = Readonly<Record<string, number>>;

/** Spending and reservations of runs under a key. */
export interface SharedSpending {
  readonly spent: Counts;
  readonly reserved: Counts;
}

/** A run's addition to it. */
export interface SpendingChange extends Partial<SharedSpending> {
  /** For a thread, the first line is the id of the thread's row. */
  readonly key: string;
  /** Upper limit for spending and reservations together; checked only for units that grow. */
  readonly most?: Counts;
}

/** An incoming answer to a question. */
export interface Answer {
  readonly key: string;
  /** Digest of the question that it answers: an edited question is a different one. */
  readonly id: string;
  /** JSON text; absent if the question expired. */
  readonly value?: string;
  readonly at: number;
  /** Source of the answer: `terminal`, `command`, `code`, `expiry`. */
  readonly by: string;
}
