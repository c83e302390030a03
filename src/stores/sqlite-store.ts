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
  checkBatch,
  checkLease,
  checkText,
  checkTexts,
  damagedRow,
  damagedValue,
  lost,
  noRun,
  outOfOrder,
  standingIn,
  taken,
  withoutDead,
} from './rules.js';
import type { Connection } from './sqlite-connection.js';
import {
  answerValues,
  readAnswer,
  readBatch,
  readPage,
  readRun,
  runValues,
  readText,
  type NumberedRow,
} from './sqlite-rows.js';
import { tokenIn } from './sqlite-schema.js';
import { settleAll, spendAll, spendingOf, type SpendingRows } from './spending.js';
import { spendingRows, unlessFull } from './sqlite-spending.js';
import { Statements } from './sqlite-statements.js';
import { backUp, forgetPlanted, removeRuns, shrink, type FileStore } from './sqlite-upkeep.js';

/** The position of the next batch of a leased run. */
interface Place {
  readonly n: number;
  readonly fence: number;
  seq: number;
}

/** Number of batches read at once: some MiB at most. */
const PAGE = 64;

export class SqliteStore implements FileStore {
  readonly #database: Connection;
  readonly #statements: Statements;
  /** Positions for batches of leased runs: while the lease is good, no other process writes them, so no query is needed. */
  readonly #places = new Map<string, Place>();

  constructor(
    database: Connection,
    readonly file: string,
  ) {
    this.#database = database;
    this.#statements = new Statements(database);
  }

  create(run: NewRun, holder: Holder, now: number, first?: FirstBatch): Lease {
    checkTexts(run, holder);
    if (first !== undefined) checkBatch(first);
    const row: RunRow = { ...run, fence: 1, holder, leasedUntil: now + LEASE_MS, cancelRequested: false, batches: 0 };
    const lease = { runId: run.id, fence: 1 };
    this.#remembering(() =>
      this.#database.patiently(() => {
        if (this.#statements.run('create', runValues(row)) === 0) throw taken(run.id);
        forgetPlanted(this.#statements, run.id);
        if (first !== undefined) this.#append({ ...first, lease, seq: 0 });
      }),
    );
    return lease;
  }

  lease(runId: string, holder: Holder, now: number): Lease {
    checkTexts(holder);
    return this.#database.patiently(() => {
      const { n, row } = this.#row(runId);
      checkLease(row, holder, now);
      const fence = row.fence + 1;
      this.#write(n, { ...begun(row), fence, holder, leasedUntil: now + LEASE_MS, cancelRequested: false });
      return { runId, fence };
    });
  }

  renew(leases: readonly RenewedLease[], now: number): readonly boolean[] {
    this.#database.checkThere();
    return this.#database.transaction(() =>
      leases.map((lease) => {
        const found = this.#leased(lease);
        if (found === undefined) return false;
        this.#write(found.n, standingIn({ ...found.row, leasedUntil: now + LEASE_MS }, lease.standing));
        return true;
      }),
    );
  }

  release(lease: Lease, { outcome, endedAt, standing }: SessionEnd): void {
    checkText(outcome);
    this.#database.checkThere();
    this.#places.delete(lease.runId);
    this.#database.patiently(() => {
      const found = this.#leased(lease);
      if (found !== undefined) this.#write(found.n, standingIn({ ...begun(found.row), outcome, endedAt }, standing));
    });
  }

  append(batches: readonly Batch[]): readonly boolean[] {
    for (const batch of batches) checkBatch(batch);
    const [only] = batches;
    const { blobs = [], standing, spending } = only ?? {};
    // A single statement is a transaction of its own, which costs half as much.
    const isBare = blobs.length === 0 && standing === undefined && spending === undefined;
    if (only !== undefined && batches.length === 1 && isBare) return this.#remembering(() => [this.#append(only)]);
    return this.#remembering(() => this.#database.transaction(() => batches.map((batch) => this.#append(batch))));
  }

  read(runId: string, from = 0, count = Infinity): readonly StoredBatch[] {
    const batches: StoredBatch[] = [];
    for (let known = 0; ;) {
      this.#readPages(runId, from, count, batches);
      const noted = this.#find(runId)?.row.standing?.batches ?? 0;
      if (batches.length === count || from + batches.length >= noted) return batches;
      if (noted === known) throw damagedRow(runId, `it has ${from + batches.length} batches, and had ${noted}`);
      // Another process may have written between the two queries.
      known = noted;
    }
  }

  cut(lease: Lease, seq: number): void {
    this.#places.delete(lease.runId);
    this.#database.patiently(() => {
      const place = this.#place(lease);
      if (place === undefined) throw lost(lease);
      this.#statements.run('cut', [place.n, seq, place.n]);
      const { n, row } = this.#row(lease.runId);
      const { standing: _, ...rest } = row;
      this.#write(n, rest);
    });
    this.#places.delete(lease.runId);
  }

  blob(digest: string): string | undefined {
    const bytes = this.#statements.first('blob', [digest])?.['bytes'];
    if (!(bytes instanceof Uint8Array)) return undefined;
    const { text, badAt } = readText(bytes);
    if (badAt === undefined) return text;
    throw damagedValue(digest, badAt);
  }

  run(runId: string): RunRow | undefined {
    const found = this.#find(runId);
    return found === undefined ? undefined : withoutDead(found.row);
  }

  list(): readonly RunRow[] {
    this.#checkCount();
    return this.#rows().filter(({ id }) => threadOfRow(id) === undefined);
  }

  ids(): readonly string[] {
    this.#checkCount();
    const bytes = this.#statements.first('ids')?.['bytes'];
    const ids = bytes instanceof Uint8Array ? readText(bytes).text.split('\0') : [];
    return ids.filter((id) => threadOfRow(id) === undefined);
  }

  threads(): readonly RunRow[] {
    return this.#rows().filter(({ id }) => threadOfRow(id) !== undefined);
  }

  stand(runId: string, standing: RunStanding): void {
    this.#database.patiently(() => {
      const { n, row } = this.#row(runId);
      this.#write(n, standingIn(row, standing));
    });
  }

  answer(runId: string, answer: Answer): boolean {
    checkTexts(answer);
    return this.#database.patiently(() => {
      const { n } = this.#row(runId);
      return this.#statements.run('answer', [n, ...answerValues(n, answer)]) === 1;
    });
  }

  answers(runId: string): readonly Answer[] {
    return this.#statements.all('answers', [runId]).map((row) => {
      const answer = readAnswer(row);
      if (typeof answer === 'string') throw damagedRow(runId, `an answer: ${answer}`);
      return answer;
    });
  }

  spend(...[lease, changes, now, batches = []]: Parameters<Store['spend']>): ReturnType<Store['spend']> {
    checkTexts(changes);
    for (const batch of batches) checkBatch(batch);
    return unlessFull((orFull) =>
      this.#remembering(() =>
        this.#database.patiently(() => {
          if (this.#leased(lease) === undefined) throw lost(lease);
          for (const batch of batches) this.#append(batch);
          return orFull(spendAll(this.#spendingRows, lease, changes, now));
        }),
      ),
    );
  }

  spending(key: string, now: number): SharedSpending {
    return spendingOf(this.#spendingRows(key), now);
  }

  requestCancel(runId: string): void {
    this.#database.patiently(() => {
      const { n, row } = this.#row(runId);
      this.#write(n, { ...row, cancelRequested: true });
    });
  }

  remove(runIds: readonly string[], now: number): readonly string[] {
    return removeRuns(this.#database, this.#statements, runIds, now);
  }

  get token(): string {
    return tokenIn(this.#database);
  }

  shrink(): number {
    return shrink(this.#database);
  }

  backup(path: string): void {
    backUp(this.#database, path);
  }

  close(): void {
    // The driver releases the file when its statements are gone.
    this.#statements.clear();
    this.#database.close();
  }

  /** Adds the batches that come after those in `batches`. */
  #readPages(runId: string, from: number, count: number, batches: StoredBatch[]): void {
    while (batches.length < count) {
      const next = (batches.at(-1)?.seq ?? from - 1) + 1;
      const wanted = Math.min(PAGE, count - batches.length);
      const values = [runId, next, wanted];
      const row = this.#statements.first('readPage', values) ?? {};
      const page = readPage(row, next, wanted) ?? this.#statements.all('read', values).map(readBatch);
      batches.push(...page);
      if (page.length < wanted) return;
    }
  }

  /** @throws SkeinError `SKEIN_STORE` if rows are lost */
  #checkCount(): void {
    const { rows, indexed } = this.#statements.first('count') ?? {};
    if (rows !== indexed) throw this.#database.damaged();
  }

  #rows(): readonly RunRow[] {
    return this.#statements.all('list').map((row) => withoutDead(readRun(row).row));
  }

  /** Forgets the positions of batches after a failure, since they may have changed. */
  #remembering<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#places.clear();
      throw error;
    }
  }

  #append(batch: Batch): boolean {
    const { lease, seq, text, sum, blobs = [], standing } = batch;
    const place = this.#place(lease);
    if (place === undefined) return false;
    if (place.seq !== seq) throw outOfOrder(batch);
    // The writing statement checks the fence: no other process gets in between.
    if (this.#statements.run('append', [seq, text, sum, place.n, lease.fence]) === 0) {
      this.#places.delete(lease.runId);
      return false;
    }
    place.seq += 1;
    for (const blob of blobs) {
      this.#statements.run('putBlob', [blob.digest, blob.text]);
      this.#statements.run('useBlob', [place.n, blob.digest]);
    }
    settleAll(this.#spendingRows, batch);
    if (standing !== undefined) {
      const { n, row } = this.#row(lease.runId);
      this.#write(n, standingIn(row, standing));
    }
    return true;
  }

  readonly #spendingRows = (key: string): SpendingRows => spendingRows(this.#statements, key);

  #place({ runId, fence }: Lease): Place | undefined {
    const known = this.#places.get(runId);
    if (known?.fence === fence) return known;
    const row = this.#statements.first('place', [runId, fence]);
    if (row === undefined) return undefined;
    const place = { n: Number(row['n']), fence, seq: Number(row['last'] ?? -1) + 1 };
    this.#places.set(runId, place);
    return place;
  }

  /** The row of a run, with a valid sum. @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL` */
  #row(runId: string): NumberedRow {
    const found = this.#find(runId);
    if (found === undefined) throw noRun(runId);
    return found;
  }

  #find(runId: string): NumberedRow | undefined {
    const found = this.#statements.first('run', [runId]);
    if (found === undefined) return undefined;
    const numbered = readRun(found);
    const { damage = numbered.row.id === runId ? undefined : 'it belongs to another run' } = numbered.row;
    if (damage !== undefined) throw damagedRow(runId, damage);
    return numbered;
  }

  /** The run of a lease, unless the lease was returned or passed on. */
  #leased({ runId, fence }: Lease): NumberedRow | undefined {
    const found = this.#find(runId);
    return found?.row.holder !== undefined && found.row.fence === fence ? found : undefined;
  }

  #write(n: number, row: RunRow): void {
    this.#statements.run('write', [...runValues(row), n]);
  }
}
