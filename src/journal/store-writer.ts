import { settled } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { madeOnce } from '../base/collections.js';
import { withStanding } from './codec.js';
import type { Batch, Lease, RunStanding, SharedSpending, SpendingChange, Store } from './store.js';
import { LEASE_MS, isLocked } from './store.js';

/**
 * A run that does one thing after the other has nothing to share a commit with: it does not wait for the turn of the event loop to end, but
 * gives way to it after this many commits.
 */
const LONGEST_ROW = 16;

/** A store that others have locked is tried again after so many milliseconds, as long as the lease is good. */
const AGAIN_MS = 50;

/** A lease that is kept good. */
interface KeptLease {
  readonly lease: Lease;
  readonly standing?: RunStanding | undefined;
  /** Until when it is good at least. */
  goodUntil: number;
  /** The lease is gone, or the store. */
  fail(error: ErrorData): void;
}

/** The writing end of the journal of one run, as the store's writer sees it. */
interface WrittenJournal extends KeptLease {
  /** Nothing is under way that could have something to write before the next commit. */
  readonly quiet: boolean;
  /** The batches that are to be committed. */
  takeBatches(): readonly Batch[];
  /** Is told how a commit went. */
  settle(error: ErrorData | undefined): void;
}

/** Journals whose batches are committed together. */
interface Commit {
  readonly journals: readonly WrittenJournal[];
  readonly batches: readonly Batch[];
}

/** Commits the journals of a store together, and keeps their leases good. */
export class StoreWriter {
  private static readonly writers = new WeakMap<Store, StoreWriter>();
  private readonly leases = new Set<KeptLease>();
  /** How many of them are of runs that are recorded here. */
  private journals = 0;
  private enlisted: WrittenJournal[] = [];
  private scheduled = false;
  /** What others keep from being committed. Nothing is committed before it. */
  private waiting: Commit | undefined = undefined;
  /** Commits since the event loop last had its turn. */
  private inARow = 0;
  /** A commit, or what follows from it, is under way; `goesOn`: another one is to come right after it. */
  private atWork = false;
  private goesOn = false;
  private stopRenewal: (() => void) | undefined = undefined;

  private constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  static of(store: Store, clock: Clock): StoreWriter {
    return madeOnce(StoreWriter.writers, store, () => new StoreWriter(store, clock));
  }

  join(journal: WrittenJournal): void {
    this.journals += 1;
    this.keep(journal);
  }

  leave(journal: WrittenJournal): void {
    if (this.leases.has(journal)) this.journals -= 1;
    this.letGo(journal);
  }

  keep(one: KeptLease): void {
    this.leases.add(one);
    this.stopRenewal ??= this.renewLater();
  }

  letGo(one: KeptLease): void {
    this.leases.delete(one);
    if (this.leases.size > 0) return;
    this.stopRenewal?.();
    this.stopRenewal = undefined;
  }

  enlist(journal: WrittenJournal): void {
    this.enlisted.push(journal);
    if (this.scheduled) return;
    this.scheduled = true;
    const alone = this.journals === 1 && journal.quiet;
    if (alone && this.inARow < LONGEST_ROW) {
      this.inARow += 1;
      if (this.atWork) this.goesOn = true;
      else queueMicrotask(() => this.flushRow());
      return;
    }
    void settled().then(() => {
      this.inARow = 0;
      this.flushRow();
    });
  }

  /** Others keep something from being committed. */
  get waits(): boolean {
    return this.waiting !== undefined;
  }

  /** Changes what a run has spent and holds, and commits batches of it: see the store. Undefined also while others have the store locked. */
  spend(
    lease: Lease,
    changes: readonly SpendingChange[],
    batches: readonly Batch[],
  ): readonly SharedSpending[] | undefined {
    try {
      return this.store.spend(lease, changes, this.clock.now(), batches);
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
  }

  /** Commits one journal at once, and before it what waits. */
  flushNow(journal: WrittenJournal): void {
    const { waiting } = this;
    this.waiting = undefined;
    if (waiting !== undefined) this.commitNow(waiting, journal);
    this.enlisted = this.enlisted.filter((other) => other !== journal);
    const batches = journal.takeBatches();
    if (batches.length === 0) return;
    if (!this.insist(batches, journal).every(Boolean)) throw staleLease(journal.lease);
  }

  /** Those that were enlisted while it waited had their turn then, and nothing was committed. */
  private commitNow(commit: Commit, journal: WrittenJournal): void {
    let written: readonly boolean[];
    try {
      written = this.insist(commit.batches, journal);
    } catch (error) {
      for (const other of commit.journals) if (other !== journal) other.settle(toErrorData(error));
      throw error;
    } finally {
      queueMicrotask(() => this.flushRow());
    }
    this.settle(commit, written);
  }

  /** Steps in a row that take no time are committed one after the other, without a promise for each. */
  private flushRow(): void {
    this.atWork = true;
    try {
      do {
        this.goesOn = false;
        this.flush();
      } while (this.goesOn);
    } finally {
      this.atWork = false;
      // A defect ended the row: what was written meanwhile is committed all the same.
      if (this.goesOn) queueMicrotask(() => this.flushRow());
    }
  }

  private flush(): void {
    this.scheduled = false;
    if (this.waiting !== undefined) return;
    const journals = this.enlisted;
    this.enlisted = [];
    const batches: Batch[] = [];
    for (const journal of journals) batches.push(...journal.takeBatches());
    // What has nothing to write any more was committed by `spend`.
    if (batches.length > 0) this.commit({ journals, batches });
    else this.settle({ journals, batches }, []);
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
    if (!this.scheduled) this.flushRow();
  }

  /** Commits, as long as a lease is good, whoever else has the store. It holds up everything: only for when a run begins a turn, or ends. */
  insist(batches: readonly Batch[], { goodUntil }: KeptLease): readonly boolean[] {
    for (;;) {
      try {
        return this.store.append(batches);
      } catch (error) {
        if (!isLocked(error) || this.clock.now() >= goodUntil) throw error;
      }
    }
  }

  private settle({ journals, batches }: Commit, written: readonly boolean[]): void {
    if (written.every(Boolean)) {
      for (const journal of journals) journal.settle(undefined);
      return;
    }
    const stale = new Set(batches.filter((_, at) => written[at] !== true).map(({ lease }) => lease));
    for (const journal of journals)
      journal.settle(stale.has(journal.lease) ? toErrorData(staleLease(journal.lease)) : undefined);
  }

  private renewLater(ms = LEASE_MS / 3): () => void {
    return this.clock.setTimer(ms, () => {
      this.stopRenewal = undefined;
      const next = this.renew() ? undefined : AGAIN_MS;
      // The last lease may have been lost just now, and a new one taken: a timer of nobody would keep the process from ending.
      if (this.leases.size > 0) this.stopRenewal ??= this.renewLater(next);
    });
  }

  /** False when others kept it from being done. */
  private renew(): boolean {
    const leases = [...this.leases];
    const now = this.clock.now();
    try {
      const good = this.store.renew(
        leases.map(({ lease, standing }) => (this.waiting === undefined ? withStanding(lease, standing) : lease)),
        now,
      );
      leases.forEach((one, i) => {
        if (good[i] === false) one.fail(toErrorData(staleLease(one.lease)));
        else one.goodUntil = now + LEASE_MS;
      });
      return true;
    } catch (error) {
      const locked = isLocked(error);
      for (const one of leases) if (!locked || now >= one.goodUntil) one.fail(toErrorData(error));
      return !locked;
    }
  }
}

/** The error for a run that was taken over. */
export function staleLease(lease: Lease): SkeinError {
  return new SkeinError('SKEIN_LEASE', `another process has taken over the run ${lease.runId}`, {
    hint: 'nothing of what was recorded is lost; look at the run with skein show',
  });
}
