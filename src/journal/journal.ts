import { systemClock, settled } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { chainSum } from './codec.js';
import type { Batch, BlobText, Lease, RunStanding, Store } from './store.js';
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

/** So many lines that nobody waits for are committed by themselves: a run that makes nothing else would keep them all in memory. */
const MOST_WAITING = 64;

/** How the run stands is written with a commit when it was not for so many milliseconds; else when the lease is renewed. */
const STANDING_MS = 200;

/** A store that others have locked is tried again after so many milliseconds, as long as the lease is good. */
const AGAIN_MS = 50;

/** Who writes a journal: is told, outside of any other call, how it went. */
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

/** Journals whose batches are committed together. */
interface Commit {
  readonly journals: readonly Journal[];
  /** How many of the batches each journal has. */
  readonly counts: readonly number[];
  readonly batches: readonly Batch[];
}

/** Commits the journals of a store together, and keeps their leases good. */
class StoreWriter {
  private static readonly writers = new WeakMap<Store, StoreWriter>();
  private readonly journals = new Set<Journal>();
  private enlisted: Journal[] = [];
  private scheduled = false;
  /** What others keep from being committed. Nothing is committed before it. */
  private waiting: Commit | undefined = undefined;
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

  /** Commits one journal at once, and before it what waits. */
  flushNow(journal: Journal): void {
    const { waiting } = this;
    this.waiting = undefined;
    if (waiting !== undefined) this.settle(waiting, this.insist(waiting.batches, journal.goodUntil));
    this.enlisted = this.enlisted.filter((other) => other !== journal);
    const batches = journal.takeBatches();
    if (batches.length === 0) return;
    if (!this.insist(batches, journal.goodUntil).every(Boolean)) throw staleLease(journal.lease);
  }

  private flush(): void {
    this.scheduled = false;
    if (this.waiting !== undefined) return;
    const journals = this.enlisted;
    this.enlisted = [];
    const counts: number[] = [];
    const batches: Batch[] = [];
    for (const journal of journals) {
      const own = journal.takeBatches();
      counts.push(own.length);
      batches.push(...own);
    }
    if (batches.length > 0) this.commit({ journals, counts, batches });
  }

  private commit(commit: Commit): void {
    let written: readonly boolean[];
    try {
      written = this.store.append(commit.batches);
    } catch (error) {
      const until = Math.min(...commit.journals.map((journal) => journal.goodUntil));
      if (isLocked(error) && this.clock.now() < until) {
        this.waiting = commit;
        this.clock.setTimer(AGAIN_MS, () => this.again(commit));
        return;
      }
      const data = toErrorData(error);
      for (const journal of commit.journals) journal.settle(data);
      return;
    }
    this.settle(commit, written);
  }

  private again(commit: Commit): void {
    if (this.waiting !== commit) return;
    this.waiting = undefined;
    this.commit(commit);
    if (!this.scheduled) this.flush();
  }

  /** Commits, as long as a lease is good, whoever else has the store. It holds up everything: only for when a run ends. */
  private insist(batches: readonly Batch[], until: number): readonly boolean[] {
    for (;;) {
      try {
        return this.store.append(batches);
      } catch (error) {
        if (!isLocked(error) || this.clock.now() >= until) throw error;
      }
    }
  }

  private settle({ journals, counts }: Commit, written: readonly boolean[]): void {
    let at = 0;
    journals.forEach((journal, i) => {
      const end = at + (counts[i] ?? 0);
      const good = written.slice(at, end).every(Boolean);
      at = end;
      journal.settle(good ? undefined : toErrorData(staleLease(journal.lease)));
    });
  }

  private renewLater(ms = LEASE_MS / 3): () => void {
    return this.clock.setTimer(ms, () => {
      this.stopRenewal = this.renewLater(this.renew() ? undefined : AGAIN_MS);
    });
  }

  /** False when others kept it from being done. */
  private renew(): boolean {
    const journals = [...this.journals];
    const now = this.clock.now();
    try {
      const good = this.store.renew(
        journals.map(({ lease, standing }) => (this.waiting === undefined ? withStanding(lease, standing) : lease)),
        now,
      );
      journals.forEach((journal, i) => {
        if (good[i] === false) journal.fail(toErrorData(staleLease(journal.lease)));
        else journal.goodUntil = now + LEASE_MS;
      });
      return true;
    } catch (error) {
      const locked = isLocked(error);
      for (const journal of journals) if (!locked || now >= journal.goodUntil) journal.fail(toErrorData(error));
      return !locked;
    }
  }
}

function withStanding<T extends object>(to: T, standing: RunStanding | undefined): T & { standing?: RunStanding } {
  return standing === undefined ? to : { ...to, standing };
}

/** Others have locked the store for longer than a statement waits. */
function isLocked(error: unknown): boolean {
  return SkeinError.isInstance(error) && error.code === 'SKEIN_STORE' && error.retryable;
}

/** The error for a run that was taken over. */
export function staleLease(lease: Lease): SkeinError {
  return new SkeinError('SKEIN_LEASE', `another process has taken over the run ${lease.runId}`, {
    hint: 'nothing of what was recorded is lost; look at the run with skein show',
  });
}
