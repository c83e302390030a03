import {
  LEASE_MS,
  type Answer,
  type Batch,
  type FirstBatch,
  type Holder,
  type Lease,
  type NewRun,
  type RenewedLease,
  type RunRow,
  type RunStanding,
  type SessionEnd,
  type SharedSpending,
  type Store,
  type StoredBatch,
} from '../journal/store.js';
import { threadOfRow } from '../journal/thread-rows.js';
import {
  begun,
  checkLease,
  checkTexts,
  lost,
  noRun,
  outOfOrder,
  removable,
  standingIn,
  taken,
  withoutDead,
} from './rules.js';
import { isOutdated, settleAll, spendAll, spendingOf, type SpendingRow, type SpendingRows } from './spending.js';

interface Entry {
  row: RunRow;
  readonly batches: StoredBatch[];
  readonly answers: Answer[];
  readonly blobs: Set<string>;
}

/**
 * Returns a store that lives as long as the process: for tests, and for runs that are resumed by the process that began them. Closing it
 * keeps its contents, so that a test can continue it as another process would.
 *
 * @example
 * const store = memoryStore();
 * const lease = store.create({ id: 'run-1', name: 'demo', createdAt: 0 }, { id: 'me', host: 'here', pid: 1 }, 0);
 * store.append([{ lease, seq: 0, text: '{}', sum: '' }]); // [true]
 * store.read('run-1').length; // 1
 */
export function memoryStore(): Store {
  return new MemoryStore();
}

class MemoryStore implements Store {
  readonly #runs = new Map<string, Entry>();
  readonly #blobs = new Map<string, string>();
  readonly #spending = new Map<string, readonly SpendingRow[]>();

  create(run: NewRun, holder: Holder, now: number, first?: FirstBatch): Lease {
    checkTexts(run, holder, first?.text, first?.sum, first?.blobs);
    if (this.#runs.has(run.id)) throw taken(run.id);
    const row = { ...run, fence: 1, holder, leasedUntil: now + LEASE_MS, cancelRequested: false, batches: 0 };
    this.#runs.set(run.id, { row, batches: [], answers: [], blobs: new Set() });
    const lease = { runId: run.id, fence: 1 };
    if (first !== undefined) this.append([{ ...first, lease, seq: 0 }]);
    return lease;
  }

  lease(runId: string, holder: Holder, now: number): Lease {
    checkTexts(holder);
    const entry = this.#entry(runId);
    checkLease(entry.row, holder, now);
    const fence = entry.row.fence + 1;
    entry.row = { ...begun(entry.row), fence, holder, leasedUntil: now + LEASE_MS, cancelRequested: false };
    return { runId, fence };
  }

  renew(leases: readonly RenewedLease[], now: number): readonly boolean[] {
    return leases.map((lease) => {
      const entry = this.#leased(lease);
      if (entry !== undefined) entry.row = standingIn({ ...entry.row, leasedUntil: now + LEASE_MS }, lease.standing);
      return entry !== undefined;
    });
  }

  release(lease: Lease, end: SessionEnd): void {
    checkTexts(end);
    const entry = this.#leased(lease);
    if (entry === undefined) return;
    const { outcome, endedAt, standing } = end;
    entry.row = standingIn({ ...begun(entry.row), outcome, endedAt }, standing);
  }

  append(batches: readonly Batch[]): readonly boolean[] {
    const next = new Map<Entry, number>();
    const entries = batches.map((batch) => {
      checkTexts(batch.text, batch.sum, batch.blobs);
      const entry = this.#leased(batch.lease);
      if (entry === undefined) return undefined;
      const expected = next.get(entry) ?? entry.batches.length;
      if (batch.seq !== expected) throw outOfOrder(batch);
      next.set(entry, expected + 1);
      return entry;
    });
    return batches.map((batch, at) => {
      const entry = entries[at];
      if (entry === undefined) return false;
      entry.batches.push({ seq: batch.seq, text: batch.text, sum: batch.sum });
      entry.row = standingIn(entry.row, batch.standing);
      settleAll(this.#spendingRows, batch);
      for (const { digest, text } of batch.blobs ?? []) {
        entry.blobs.add(digest);
        if (!this.#blobs.has(digest)) this.#blobs.set(digest, text);
      }
      return true;
    });
  }

  read(runId: string, seq = 0, count = Number.POSITIVE_INFINITY): readonly StoredBatch[] {
    return this.#runs.get(runId)?.batches.slice(seq, seq + count) ?? [];
  }

  cut(lease: Lease, seq: number): void {
    const entry = this.#leased(lease);
    if (entry === undefined) throw lost(lease);
    entry.batches.length = Math.min(entry.batches.length, seq);
    const { standing: _, ...rest } = entry.row;
    entry.row = rest;
  }

  blob(digest: string): string | undefined {
    return this.#blobs.get(digest);
  }

  run(runId: string): RunRow | undefined {
    const entry = this.#runs.get(runId);
    return entry === undefined ? undefined : rowOf(entry);
  }

  list(): readonly RunRow[] {
    return this.#rows().filter(({ id }) => threadOfRow(id) === undefined);
  }

  ids(): readonly string[] {
    return this.list().map(({ id }) => id);
  }

  threads(): readonly RunRow[] {
    return this.#rows().filter(({ id }) => threadOfRow(id) !== undefined);
  }

  stand(runId: string, standing: RunStanding): void {
    const entry = this.#entry(runId);
    entry.row = standingIn(entry.row, standing);
  }

  answer(runId: string, answer: Answer): boolean {
    checkTexts(answer);
    const { answers } = this.#entry(runId);
    if (answers.some((one) => one.key === answer.key && one.id === answer.id)) return false;
    answers.push({ ...answer });
    return true;
  }

  answers(runId: string): readonly Answer[] {
    return [...(this.#runs.get(runId)?.answers ?? [])];
  }

  spend(...[lease, changes, now, batches = []]: Parameters<Store['spend']>): ReturnType<Store['spend']> {
    checkTexts(changes);
    if (this.#leased(lease) === undefined) throw lost(lease);
    const before = new Map(this.#spending);
    let isDone = false;
    try {
      for (const batch of batches) settleAll(this.#spendingRows, batch);
      const sums = spendAll(this.#spendingRows, lease, changes, now);
      if (sums !== undefined) this.append(batches.map(unsettled));
      isDone = sums !== undefined;
      return sums;
    } finally {
      if (!isDone) this.#restore(before);
    }
  }

  spending(key: string, now: number): SharedSpending {
    return spendingOf(this.#spendingRows(key), now);
  }

  requestCancel(runId: string): void {
    const entry = this.#entry(runId);
    entry.row = { ...entry.row, cancelRequested: true };
  }

  remove(runIds: readonly string[], now: number): readonly string[] {
    const rows = [...this.#runs.values()].map((entry) => entry.row);
    const going = [...removable(rows, runIds, now)];
    const digests = new Set(going.flatMap((id) => [...(this.#runs.get(id)?.blobs ?? [])]));
    for (const id of going) this.#runs.delete(id);
    for (const { blobs } of this.#runs.values()) for (const digest of blobs) digests.delete(digest);
    for (const digest of digests) this.#blobs.delete(digest);
    for (const [key, spent] of this.#spending)
      if (spent.every((row) => isOutdated(row, (id) => this.#runs.has(id), now))) this.#spending.delete(key);
    return going;
  }

  close(): void {
    // Nothing to close.
  }

  #rows(): readonly RunRow[] {
    return [...this.#runs.values()]
      .map(rowOf)
      .toReversed()
      .toSorted((a, b) => b.createdAt - a.createdAt);
  }

  #restore(spending: ReadonlyMap<string, readonly SpendingRow[]>): void {
    this.#spending.clear();
    for (const [key, rows] of spending) this.#spending.set(key, rows);
  }

  readonly #spendingRows = (key: string): SpendingRows => {
    const all = (): readonly SpendingRow[] => this.#spending.get(key) ?? [];
    const without = ({ run, fence }: SpendingRow): readonly SpendingRow[] =>
      all().filter((row) => row.run !== run || row.fence !== fence);
    return {
      all,
      run: (id) => this.#runs.get(id)?.row,
      put: (row) => void this.#spending.set(key, [...without(row), row]),
      drop: (row) => void this.#spending.set(key, without(row)),
    };
  };

  #entry(runId: string): Entry {
    const entry = this.#runs.get(runId);
    if (entry === undefined) throw noRun(runId);
    return entry;
  }

  #leased(lease: Lease): Entry | undefined {
    const entry = this.#runs.get(lease.runId);
    return entry?.row.holder !== undefined && entry.row.fence === lease.fence ? entry : undefined;
  }
}

function rowOf({ row, batches }: Entry): RunRow {
  return { ...withoutDead(row), batches: batches.length };
}

/** A batch without its changes of spending. */
function unsettled(batch: Batch): Batch {
  const { spending: _, ...rest } = batch;
  return rest;
}
