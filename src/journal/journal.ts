import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import type { JournalEnd } from './codec.js';
import { OpenBatches, endOf } from './codec.js';
import type { Batch, BlobText, Lease, RunStanding, SharedSpending, SpendingChange, Store } from './store.js';
import { LEASE_MS } from './store.js';
import { StoreWriter } from './store-writer.js';

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

/**
 * The writing end of a run's journal. Lines are kept until the turn of the event loop ends and are then committed together, with those of
 * all runs of the store (J5).
 */
export class Journal {
  private open = new OpenBatches();
  /** It is to be part of the next commit. */
  private enlisted = false;
  private readonly writer: StoreWriter;
  private over = false;
  /** When it was last written how the run stands. */
  private stoodAt: number;
  /** Until when its lease is good at least. */
  goodUntil: number;
  /** Something was written that is more than a {@link note}. */
  worked = false;
  /** Called when changes of spending are committed: those of the open batches, and those on their way. */
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

  /** Writes what is only told to people, and changes nothing of what the run has done; `isLate`: with the next line will do. */
  note(line: string, isLate = false): void {
    const { worked } = this;
    if (isLate) this.writeInPassing(line);
    else this.write(line);
    this.worked = worked;
  }

  /** Writes what nobody waits for: it is committed with the next line that is written, or at the end. */
  writeInPassing(line: string, blob?: BlobText): void {
    if (this.over) return;
    this.worked = true;
    this.open.put(line, blob);
    if (this.open.lines >= MOST_WAITING) this.enlist();
  }

  /** Changes what the run has spent and holds, with the commit of what was written last. `committed`: called when that is done. */
  charge(changes: readonly SpendingChange[], committed: () => void): void {
    if (this.over) return;
    this.open.charge(changes, this.clock.now());
    this.charged.push(committed);
    if (this.open.lines > 0) this.enlist();
  }

  /**
   * Commits at once what was written, with one more line where there is one, and with changes of what the run has spent and holds: all or nothing.
   * Gives how their keys stand then; undefined where that is too much, or nobody can say now. The owner is told of it as of any commit.
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

  /** The batches that are to be committed. */
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

  /** Tells the owner how a commit went. */
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

  /** The lease is gone, or the store. */
  fail(error: ErrorData): void {
    if (this.over) return;
    this.stop();
    this.owner.broken(error);
  }
}
