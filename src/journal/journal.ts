import { systemClock, type Clock } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import { OpenBatches, endOf, type JournalEnd } from './codec.js';
import {
  LEASE_MS,
  type Batch,
  type BlobText,
  type Lease,
  type RunStanding,
  type SharedSpending,
  type SpendingChange,
  type Store,
} from './store.js';
import { StoreWriter } from './store-writer.js';

/** Number of lines that are committed even if nobody waits for them: a run that writes no others would keep them all in memory. */
const MOST_WAITING = 64;

/** Minimum milliseconds between two commits that include the standing of the run; otherwise lease renewals write it. */
const STANDING_MS = 200;

/** The writer of a journal. It learns, outside of any other call, how commits went. */
export interface JournalOwner {
  /** True if no work in progress might write something before the next commit. */
  readonly quiet: boolean;
  /** The standing of the run after this number of batches; undefined if unknown. */
  standing(batches: number): RunStanding | undefined;
  /** Everything written before this turn of the event loop is committed. */
  committed(): void;
  /** Nothing more can be written. */
  broken(error: ErrorData): void;
}

/** The writing end of a run's journal. The lines of one turn of the event loop are committed together, for all runs (J5). */
export class Journal {
  private open = new OpenBatches();
  /** True if it takes part in the next commit. */
  private enlisted = false;
  private readonly writer: StoreWriter;
  private over = false;
  /** When the standing of the run was last written. */
  private stoodAt: number;
  /** Earliest time at which its lease may expire. */
  goodUntil: number;
  /** True if anything but a {@link note} was written. */
  worked = false;
  /** Callbacks for committed changes of spending: `charged` for the open batches, `charging` for those being committed. */
  private charged: (() => void)[] = [];
  private charging: (() => void)[] = [];

  constructor(
    store: Store,
    readonly lease: Lease,
    private end: JournalEnd,
    private readonly owner: JournalOwner,
    private readonly clock: Clock = systemClock,
  ) {
    this.stoodAt = clock.now();
    this.goodUntil = this.stoodAt + LEASE_MS;
    this.writer = StoreWriter.of(store, clock);
    this.writer.join(this);
  }

  write(line: string, blob?: BlobText): void {
    this.writeInPassing(line, blob);
    if (!this.over) this.enlist();
  }

  /** Writes a line that only informs people and does not change what the run has done. `isLate`: it may wait for the next line. */
  note(line: string, isLate = false): void {
    const { worked } = this;
    if (isLate) this.writeInPassing(line);
    else this.write(line);
    this.worked = worked;
  }

  /** Writes a line that nobody waits for: it is committed with the next line, or at the end. */
  writeInPassing(line: string, blob?: BlobText): void {
    if (this.over) return;
    this.worked = true;
    this.open.put(line, blob);
    if (this.open.lines >= MOST_WAITING) this.enlist();
  }

  /** Changes what the run has spent and holds, in the commit of the last written lines. Calls `committed` after the commit. */
  charge(changes: readonly SpendingChange[], committed: () => void): void {
    if (this.over) return;
    this.open.charge(changes, this.clock.now());
    this.charged.push(committed);
    if (this.open.lines > 0) this.enlist();
  }

  /**
   * Commits the written lines at once, with an optional further line, and changes of what the run has spent and holds: all or nothing.
   * Returns the resulting sums; undefined if a limit is exceeded, or the store is locked. The owner learns of this commit as of any other.
   *
   * @throws SkeinError `SKEIN_LEASE`, `SKEIN_STORE`
   */
  spend(line: string | undefined, changes: readonly SpendingChange[]): readonly SharedSpending[] | undefined {
    if (this.over || this.writer.waits) return undefined;
    const { end, lease } = this;
    const open = line === undefined ? this.open : this.open.with(line);
    const batches = open.after(end, lease);
    const sums = this.writer.spend(lease, changes, batches);
    if (sums === undefined || batches.length === 0) return sums;
    this.worked = true;
    this.open = new OpenBatches();
    this.end = endOf(batches, end);
    const done = this.charged;
    this.charged = [];
    for (const committed of done) committed();
    this.enlist();
    return sums;
  }

  /**
   * Commits the remaining lines and stops; keeps the lease.
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

  stop(): void {
    this.over = true;
    this.writer.leave(this);
  }

  get quiet(): boolean {
    return this.owner.quiet;
  }

  get batches(): number {
    return this.end.batches;
  }

  get standing(): RunStanding | undefined {
    return this.stand(this.batches);
  }

  private enlist(): void {
    if (this.enlisted) return;
    this.enlisted = true;
    this.writer.enlist(this);
  }

  takeBatches(): readonly Batch[] {
    this.enlisted = false;
    const { open, end, lease } = this;
    if (open.lines === 0) return [];
    const stands = this.clock.now() - this.stoodAt >= STANDING_MS;
    const batches = open.after(end, lease, stands ? (count) => this.stand(count) : undefined);
    this.open = new OpenBatches();
    this.end = endOf(batches, end);
    this.charging.push(...this.charged);
    this.charged = [];
    return batches;
  }

  private stand(batches: number): RunStanding | undefined {
    this.stoodAt = this.clock.now();
    return this.owner.standing(batches);
  }

  /** Reports the result of a commit to the owner. */
  settle(error: ErrorData | undefined): void {
    if (this.over) return;
    if (error !== undefined) {
      this.fail(error);
      return;
    }
    const done = this.charging;
    this.charging = [];
    for (const committed of done) committed();
    this.owner.committed();
  }

  fail(error: ErrorData): void {
    if (this.over) return;
    this.stop();
    this.owner.broken(error);
  }
}
