import { SkeinError } from '../base/errors.js';

/**
 * The store port: where journals live. A store keeps lines of text and knows nothing of what they mean. It is synchronous, as the
 * embedded databases are; what it gives back has been committed.
 *
 * Every method throws a SkeinError `SKEIN_STORE` when the medium fails (no space, an I/O error, a file that is not a database), and
 * `SKEIN_JOURNAL` when what it should give is damaged. A failed call has changed nothing. When it failed because another process has
 * locked the store for long, the error is `retryable`.
 */
export interface Store {
  /** The file that it is in, absolute: tools of agents reach neither it nor what the medium puts beside it. Absent: it is in no file. */
  readonly file?: string | undefined;
  /**
   * Makes the row of a new run, leases it, with the fencing number 1, and commits its first batch: all or nothing.
   *
   * @throws SkeinError `SKEIN_STORE` when the id is taken
   */
  create(run: NewRun, holder: Holder, now: number, first?: FirstBatch): Lease;
  /**
   * Leases a run to a new holder; the fencing number grows, so that the former holder can write no more (J9).
   *
   * @throws SkeinError `SKEIN_NO_RUN`; `SKEIN_LEASE` while another holder's lease is good and it is not known to be dead
   */
  lease(runId: string, holder: Holder, now: number): Lease;
  /**
   * Makes leases good until `now` + {@link LEASE_MS}, and notes how the runs stand. False for each that another holder has taken, true for
   * the others.
   *
   * @throws SkeinError `SKEIN_STORE` also when the store was removed or replaced: nothing that is written reaches it any more
   */
  renew(leases: readonly RenewedLease[], now: number): readonly boolean[];
  /** Gives a lease back and notes how the session ended. Nothing happens when another holder has the run. */
  release(lease: Lease, end: SessionEnd): void;
  /**
   * Commits batches of any number of runs together, all or none (J5); in a batch, blobs and lines together. False for a batch whose lease
   * is stale: of that batch nothing is written (J9), the others are.
   */
  append(batches: readonly Batch[]): readonly boolean[];
  /** The batches of a run, in order, as they were appended: all, or `count` of those from `seq` on. */
  read(runId: string, seq?: number, count?: number): readonly StoredBatch[];
  /** Cuts off a run's batches from `seq` on: a torn tail. Only with a good lease. */
  cut(lease: Lease, seq: number): void;
  /** A blob by its digest; undefined when there is none. */
  blob(digest: string): string | undefined;
  run(runId: string): RunRow | undefined;
  /** Runs, newest first. Those whose row is damaged are there too, with `damage`. */
  list(): readonly RunRow[];
  /** Ids of runs, in the same order: of many runs they are read in a tenth of the time. */
  ids(): readonly string[];
  /** Rows of threads (`thread-rows.ts`), newest first: they are none of the runs. */
  threads(): readonly RunRow[];
  /** Notes how a run stands, as its journal says. Needs no lease; what stands there for as many batches or more is left. */
  stand(runId: string, standing: RunStanding): void;
  /** Keeps the first answer to a question: false when there was one already. Needs no lease: it comes from anybody. */
  answer(runId: string, answer: Answer): boolean;
  /** Answers of a run, in the order in which they came. */
  answers(runId: string): readonly Answer[];
  /**
   * Changes what a run has spent and holds under keys that many runs share, and commits batches of the run with it: all or nothing. Gives how each key
   * stands then; undefined where the sums of all runs under one of them would be more than `most`: nothing was changed. What a session held that
   * is over, or whose process is known to have died, counts as spent.
   *
   * @throws SkeinError `SKEIN_LEASE` when the lease is stale
   */
  spend(
    lease: Lease,
    changes: readonly SpendingChange[],
    now: number,
    batches?: readonly Batch[],
  ): readonly SharedSpending[] | undefined;
  /** What all runs have spent and hold under a key. */
  spending(key: string, now: number): SharedSpending;
  /** Asks whoever runs it to cancel a run. */
  requestCancel(runId: string): void;
  /**
   * Deletes runs with all that is theirs, and blobs that no run uses any more. Runs that are leased, or that others were forked from, stay. What they
   * have spent still counts: under the key of a thread as long as there is the thread, under others for {@link SPENDING_MS} after its last change.
   */
  remove(runIds: readonly string[], now: number): readonly string[];
  close(): void;
}

/** Others have locked the store for longer than a statement waits: the same may work later. */
export function isLocked(error: unknown): boolean {
  return SkeinError.isInstance(error) && error.code === 'SKEIN_STORE' && error.retryable === true;
}

/** How long a lease is good, in milliseconds. It is renewed three times as often. */
export const LEASE_MS = 15_000;

/** How long it is kept at least what was spent under a key, in milliseconds. */
export const SPENDING_MS = 48 * 3_600_000;

/** A process that runs a run. */
export interface Holder {
  /** Unique in the world. */
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

/** A lease that is to be good for longer. */
export interface RenewedLease extends Lease {
  readonly standing?: RunStanding;
}

/** How a run stands after so many batches: what a list of runs says of it without its journal. */
export interface RunStanding {
  /** Number of batches that it tells of. */
  readonly batches: number;
  /** Steps with an end. */
  readonly steps: number;
  /** All sessions together, in milliseconds. */
  readonly ms: number;
  /** Questions and events that are waited for, also such as have an answer that the run has not taken yet. */
  readonly pauses: readonly { readonly key: string; readonly id: string }[];
}

/** A run that begins. */
export interface NewRun {
  readonly id: string;
  /** Name of the workflow. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The run that it was forked from, or the row of the thread that it is a turn of: that stays as long as this one. */
  readonly parent?: string;
}

/** How a session of a run ended. */
export interface SessionEnd {
  readonly outcome: string;
  readonly endedAt: number;
  readonly standing?: RunStanding;
}

/** What a store knows of a run. */
export interface RunRow extends NewRun {
  readonly fence: number;
  /** Of the last session; absent while it runs, or when its process died. */
  readonly outcome?: string;
  readonly endedAt?: number;
  /** Who has it; absent when nobody does, or when that process is known to have died. */
  readonly holder?: Holder;
  /** Until when the holder's lease is good. */
  readonly leasedUntil?: number;
  readonly cancelRequested: boolean;
  /** Number of batches in its journal. */
  readonly batches: number;
  /** As it was noted last: the journal may have gone on since. */
  readonly standing?: RunStanding;
  /** Why the row can't be believed: only `id` and `name` are reported, as far as they can be read. */
  readonly damage?: string;
}

/** Outcomes of runs that came to an end. */
export const ENDED: ReadonlySet<string | undefined> = new Set(['succeeded', 'degraded', 'failed', 'cancelled']);

/** True while a process has the run, as far as its lease says. */
export function isHeld({ holder, leasedUntil }: RunRow, now: number): boolean {
  return holder !== undefined && leasedUntil !== undefined && leasedUntil > now;
}

/** Records that are committed together. `text` is one JSON document a line, of one MiB at most. */
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
  /** What changes with it of what the run has spent and holds. `most` says nothing here. */
  readonly spending?: { readonly at: number; readonly changes: readonly SpendingChange[] };
}

/** The first batch of a run that is being made. */
export type FirstBatch = Omit<Batch, 'lease' | 'seq' | 'spending'>;

/** A batch that was stored. */
export interface StoredBatch {
  readonly seq: number;
  readonly text: string;
  readonly sum: string;
  /** The first byte of a column that is not text. */
  readonly damage?: { readonly column: 'text' | 'sum'; readonly offset: number };
}

/** A large value, stored once by content. */
export interface BlobText {
  readonly digest: string;
  readonly text: string;
}

/** Whole numbers by what they count, so that sums are exact. */
export type Counts = Readonly<Record<string, number>>;

/** What runs have spent and hold under a key. */
export interface SharedSpending {
  readonly spent: Counts;
  readonly reserved: Counts;
}

/** What is to be added to it by a run. */
export interface SpendingChange extends Partial<SharedSpending> {
  /** Its first line is the row of a thread where it is about one. */
  readonly key: string;
  /** What is spent and held together stays within these, where more of them is asked for. */
  readonly most?: Counts;
}

/** An answer to a question, as it comes in. */
export interface Answer {
  /** Key of the question. */
  readonly key: string;
  /** Digest of the question that is answered: an edited question is another one. */
  readonly id: string;
  /** JSON text; absent: it expired. */
  readonly value?: string;
  readonly at: number;
  /** Where it came from: `terminal`, `command`, `code`, `expiry`. */
  readonly by: string;
}
