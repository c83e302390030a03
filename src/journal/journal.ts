import { systemClock, settled } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { chainSum } from './codec.js';
import type { Batch, BlobText, Lease, Store } from './store.js';
import { LEASE_MS } from './store.js';

/**
 * A batch takes no further line once it has this many characters; a store takes 1 MiB. Longer texts are large objects to the collector of
 * V8, each with memory of its own: a commit of a thousand outcomes then takes a fifth more time.
 */
const FULL_BATCH = 64 * 1024;

/**
 * A run that does one thing after the other has nothing to share a commit with: it does not wait for the turn of the event loop to end, but
 * gives way to it after this many commits.
 */
const LONGEST_ROW = 16;

/** Who writes a journal: is told, outside of any other call, how it went. */
export interface JournalOwner {
  /** Nothing is under way that could have something to write before the next commit. */
  readonly quiet: boolean;
  /** Everything that was written before this turn of the event loop is committed. */
  committed(): void;
  /** Nothing more can be written. */
  broken(error: ErrorData): void;
}

/** Where a journal goes on. */
export interface JournalEnd {
  /** Number of batches. */
  readonly batches: number;
  /** Sum of the last. */
  readonly sum: string;
}

/**
 * The writing end of a run's journal. Lines are kept until the turn of the event loop ends and are then committed together, with those of
 * all runs of the store (J5).
 *
 * @example
 * const journal = new Journal(store, lease, { batches: 0, sum: FIRST_SUM }, owner);
 * journal.write(encodeRecord(record)); // owner.committed() is called when it is safe
 */
export class Journal {
  private lines: string[] = [];
  private blobs: BlobText[] = [];
  private readonly writer: StoreWriter;
  private seq: number;
  private sum: string;
  private over = false;

  constructor(
    store: Store,
    readonly lease: Lease,
    end: JournalEnd,
    private readonly owner: JournalOwner,
    clock: Clock = systemClock,
  ) {
    this.seq = end.batches;
    this.sum = end.sum;
    this.writer = StoreWriter.of(store, clock);
    this.writer.join(this);
  }

  write(line: string, blob?: BlobText): void {
    if (this.over) return;
    if (this.lines.length === 0) this.writer.enlist(this);
    this.lines.push(line);
    if (blob !== undefined) this.blobs.push(blob);
  }

  /**
   * Commits what is still to be committed and stops; the lease is kept.
   *
   * @throws SkeinError `SKEIN_STORE`, `SKEIN_LEASE`
   */
  close(): void {
    if (this.over) return;
    try {
      this.writer.flushNow(this);
    } finally {
      this.stop();
    }
  }

  /** Stops without writing. */
  stop(): void {
    this.over = true;
    this.writer.leave(this);
  }

  get quiet(): boolean {
    return this.owner.quiet;
  }

  /** The batches that are to be committed. */
  takeBatches(): Batch[] {
    const { lines, blobs, lease } = this;
    const batches: Batch[] = [];
    let text = '';
    const put = (): void => {
      const sum = chainSum(this.sum, lease.runId, this.seq, text);
      batches.push({ lease, seq: this.seq, text, sum, ...(batches.length === 0 && blobs.length > 0 ? { blobs } : {}) });
      this.seq += 1;
      this.sum = sum;
    };
    for (const line of lines) {
      if (text.length > 0 && text.length + line.length > FULL_BATCH) {
        put();
        text = '';
      }
      text = text.length === 0 ? line : `${text}\n${line}`;
    }
    if (text.length > 0) put();
    this.lines = [];
    this.blobs = [];
    return batches;
  }

  /** Tells the owner how a commit went. */
  settle(error: ErrorData | undefined): void {
    if (this.over) return;
    if (error === undefined) this.owner.committed();
    else this.fail(error);
  }

  /** The lease is gone, or the store. */
  fail(error: ErrorData): void {
    if (this.over) return;
    this.stop();
    this.owner.broken(error);
  }
}

/** Commits the journals of a store together, and keeps their leases good. */
class StoreWriter {
  private static readonly writers = new WeakMap<Store, StoreWriter>();
  private readonly journals = new Set<Journal>();
  private enlisted: Journal[] = [];
  private scheduled = false;
  /** Commits since the event loop last had its turn. */
  private inARow = 0;
  private stopRenewal: (() => void) | undefined = undefined;

  private constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  static of(store: Store, clock: Clock): StoreWriter {
    let writer = StoreWriter.writers.get(store);
    if (writer === undefined) {
      writer = new StoreWriter(store, clock);
      StoreWriter.writers.set(store, writer);
    }
    return writer;
  }

  join(journal: Journal): void {
    this.journals.add(journal);
    this.stopRenewal ??= this.renewLater();
  }

  leave(journal: Journal): void {
    this.journals.delete(journal);
    if (this.journals.size > 0) return;
    this.stopRenewal?.();
    this.stopRenewal = undefined;
  }

  enlist(journal: Journal): void {
    this.enlisted.push(journal);
    if (this.scheduled) return;
    this.scheduled = true;
    const alone = this.journals.size === 1 && journal.quiet;
    if (alone && this.inARow < LONGEST_ROW) {
      this.inARow += 1;
      queueMicrotask(() => this.flush());
      return;
    }
    void settled().then(() => {
      this.inARow = 0;
      this.flush();
    });
  }

  /** Commits one journal at once. */
  flushNow(journal: Journal): void {
    this.enlisted = this.enlisted.filter((other) => other !== journal);
    const batches = journal.takeBatches();
    if (batches.length === 0) return;
    if (!this.store.append(batches).every(Boolean)) throw staleLease(journal.lease);
  }

  private flush(): void {
    this.scheduled = false;
    const { enlisted } = this;
    this.enlisted = [];
    const counts: number[] = [];
    const batches: Batch[] = [];
    for (const journal of enlisted) {
      const own = journal.takeBatches();
      counts.push(own.length);
      batches.push(...own);
    }
    if (batches.length === 0) return;
    let written: readonly boolean[];
    try {
      written = this.store.append(batches);
    } catch (error) {
      const data = toErrorData(error);
      for (const journal of enlisted) journal.settle(data);
      return;
    }
    let at = 0;
    enlisted.forEach((journal, i) => {
      const end = at + (counts[i] ?? 0);
      const good = written.slice(at, end).every(Boolean);
      at = end;
      journal.settle(good ? undefined : toErrorData(staleLease(journal.lease)));
    });
  }

  private renewLater(): () => void {
    return this.clock.setTimer(LEASE_MS / 3, () => {
      this.stopRenewal = this.renewLater();
      const journals = [...this.journals];
      try {
        const good = this.store.renew(
          journals.map((journal) => journal.lease),
          this.clock.now(),
        );
        journals.forEach((journal, i) => {
          if (good[i] === false) journal.fail(toErrorData(staleLease(journal.lease)));
        });
      } catch (error) {
        for (const journal of journals) journal.fail(toErrorData(error));
      }
    });
  }
}

/** The error for a run that was taken over. */
export function staleLease(lease: Lease): SkeinError {
  return new SkeinError('SKEIN_LEASE', `another process has taken over the run ${lease.runId}`, {
    hint: 'nothing of what was recorded is lost; look at the run with skein show',
  });
}
