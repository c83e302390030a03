import { settled, type Clock } from '../base/clock.js';
import { SkeinError, toErrorData, type ErrorData } from '../base/errors.js';
import { madeOnce } from '../base/collections.js';
import { withStanding } from './codec.js';
import {
  LEASE_MS,
  isLocked,
  type Batch,
  type Lease,
  type RunStanding,
  type SharedSpending,
  type SpendingChange,
  type Store,
} from './store.js';

/**
 * A run that does one thing after another has no commits to share: it does not wait for the turn of the event loop to end, but yields to
 * the event loop after this many commits.
 */
const LONGEST_ROW = 16;

/** Milliseconds until a store that others have locked is tried again, while the lease is good. */
const AGAIN_MS = 50;

interface KeptLease {
  readonly lease: Lease;
  readonly standing?: RunStanding | undefined;
  /** Earliest time at which it may expire. */
  goodUntil: number;
  /** The lease or the store is lost. */
  fail(error: ErrorData): void;
}

interface WrittenJournal extends KeptLease {
  /** True if no work in progress might write something before the next commit. */
  readonly quiet: boolean;
  takeBatches(): readonly Batch[];
  settle(error: ErrorData | undefined): void;
}

interface Commit {
  readonly journals: readonly WrittenJournal[];
  readonly batches: readonly Batch[];
}

export class StoreWriter {
  private static readonly writers = new WeakMap<Store, StoreWriter>();
  private readonly leases = new Set<KeptLease>();
  /** Number of leases that belong to runs recorded here. */
  private journals = 0;
  private enlisted: WrittenJournal[] = [];
  private scheduled = false;
  /** A commit delayed by other processes' locks. Later commits wait for it. */
  private waiting: Commit | undefined = undefined;
  /** Commits since the last turn of the event loop. */
  private inARow = 0;
  /** True during a commit and the work that follows from it. `goesOn`: another commit follows immediately. */
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

  /** True while other processes' locks delay a commit. */
  get waits(): boolean {
    return this.waiting !== undefined;
  }

  /** Changes what a run has spent and holds, and commits batches of it: see the store. Also undefined while others lock the store. */
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

  /** Commits one journal at once, after any delayed commit. */
  flushNow(journal: WrittenJournal): void {
    const { waiting } = this;
    this.waiting = undefined;
    if (waiting !== undefined) this.commitNow(waiting, journal);
    this.enlisted = this.enlisted.filter((other) => other !== journal);
    const batches = journal.takeBatches();
    if (batches.length === 0) return;
    if (!this.insist(batches, journal).every(Boolean)) throw staleLease(journal.lease);
  }

  /** Journals enlisted during the delay had their turn without a commit, so another flush follows. */
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

  /** Commits consecutive steps that take no time one after another, without a promise for each. */
  private flushRow(): void {
    this.atWork = true;
    try {
      do {
        this.goesOn = false;
        this.flush();
      } while (this.goesOn);
    } finally {
      this.atWork = false;
      // A defect ended the row: lines written in the meantime are still committed.
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
    // A journal without lines was committed by `spend`.
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

  /** Commits while the lease is good, even if others lock the store. Blocks the process: only to begin a turn or end a run. */
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
      // The last lease may just have been lost, and a new one taken. A timer without leases would keep the process from ending.
      if (this.leases.size > 0) this.stopRenewal ??= this.renewLater(next);
    });
  }

  /** Returns false if others' locks prevented it. */
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

/** The error for a run that another process has taken over. */
export function staleLease(lease: Lease): SkeinError {
  return new SkeinError('SKEIN_LEASE', `another process has taken over the run ${lease.runId}`, {
    hint: 'nothing of what was recorded is lost; look at the run with skein show',
  });
}
