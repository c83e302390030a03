import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import { chainSum } from './codec.js';
import type { Batch, BlobText, Lease, RunStanding, Store } from './store.js';
import { LEASE_MS } from './store.js';
import { StoreWriter, withStanding } from './store-writer.js';

/**
 * A batch takes no further line once it has this many characters; a store takes 1 MiB. Longer texts are large objects to the collector of
 * V8, each with memory of its own: a commit of a thousand outcomes then takes a fifth more time.
 */
const FULL_BATCH = 64 * 1024;

/** So many lines that nobody waits for are committed by themselves: a run that makes nothing else would keep them all in memory. */
const MOST_WAITING = 64;

/** How the run stands is written with a commit when it was not for so many milliseconds; else when the lease is renewed. */
const STANDING_MS = 200;

/** Who writes a journal: learns, outside of any other call, how it went. */
export interface JournalOwner {
  /** Nothing is under way that could have something to write before the next commit. */
  readonly quiet: boolean;
  /** How the run stands with so many batches; undefined for who does not know. */
  standing(batches: number): RunStanding | undefined;
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
  /** It is to be part of the next commit. */
  private enlisted = false;
  private readonly writer: StoreWriter;
  private seq: number;
  private sum: string;
  private over = false;
  /** When it was last written how the run stands. */
  private stoodAt: number;
  /** Until when its lease is good at least. */
  goodUntil: number;
  /** Something was written that is more than a {@link note}. */
  worked = false;

  constructor(
    store: Store,
    readonly lease: Lease,
    end: JournalEnd,
    private readonly owner: JournalOwner,
    private readonly clock: Clock = systemClock,
  ) {
    this.seq = end.batches;
    this.sum = end.sum;
    this.stoodAt = clock.now();
    this.goodUntil = this.stoodAt + LEASE_MS;
    this.writer = StoreWriter.of(store, clock);
    this.writer.join(this);
  }

  write(line: string, blob?: BlobText): void {
    this.writeInPassing(line, blob);
    if (!this.over) this.enlist();
  }

  /** Writes what is only told to people, and changes nothing of what the run has done. */
  note(line: string): void {
    const { worked } = this;
    this.write(line);
    this.worked = worked;
  }

  /** Writes what nobody waits for: it is committed with the next line that is written, or at the end. */
  writeInPassing(line: string, blob?: BlobText): void {
    if (this.over) return;
    this.worked = true;
    this.lines.push(line);
    if (blob !== undefined) this.blobs.push(blob);
    if (this.lines.length >= MOST_WAITING) this.enlist();
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

  /** Number of batches that were handed over. */
  get batches(): number {
    return this.seq;
  }

  get standing(): RunStanding | undefined {
    this.stoodAt = this.clock.now();
    return this.owner.standing(this.seq);
  }

  private enlist(): void {
    if (this.enlisted) return;
    this.enlisted = true;
    this.writer.enlist(this);
  }

  /** The batches that are to be committed. */
  takeBatches(): Batch[] {
    this.enlisted = false;
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
    const last = batches.at(-1);
    if (last === undefined || this.clock.now() - this.stoodAt < STANDING_MS) return batches;
    return [...batches.slice(0, -1), withStanding(last, this.standing)];
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
