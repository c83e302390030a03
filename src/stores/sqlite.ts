import { resolve } from 'node:path';
import type {
  Answer,
  Batch,
  FirstBatch,
  Holder,
  Lease,
  NewRun,
  RunRow,
  SessionEnd,
  Store,
  StoredBatch,
} from '../journal/store.js';
import { LEASE_MS } from '../journal/store.js';
import { checkLease, checkText, checkTexts, lost, noRun, outOfOrder, removable, taken, withoutDead } from './rules.js';
import type { Connection } from './sqlite-connection.js';
import type { SqlRow, SqlStatement, SqlValue } from './sqlite-driver.js';
import { loadDriver } from './sqlite-driver.js';
import type { Durability } from './sqlite-schema.js';
import { openDatabase } from './sqlite-schema.js';

/** How a store of runs in a SQLite file is opened. */
export interface SqliteStoreOptions {
  /**
   * What a commit survives. `fast`, the default: a process that is killed. `full`: also a power cut or a crash of the machine; each commit
   * then waits for the disk.
   */
  readonly durability?: Durability;
  /**
   * Opens the file also with a SQLite before 3.51.3, which can lose what two processes write at the same time. Only for machines that have
   * no other, where one process at a time uses the store. Default: no.
   */
  readonly allowOldSqlite?: boolean;
}

/**
 * Opens a store in a SQLite file; what is missing of file and folder is made, for their owner alone. Any number of processes may have it
 * open at once. Needs a Node whose SQLite is 3.51.3 or newer (`process.versions.sqlite`), or the package `@photostructure/sqlite`.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` when there is no SQLite, or only an older one; `SKEIN_STORE` when the file can't be used.
 * @example
 * const store = await openSqliteStore('.skein/skein.db', { durability: 'full' });
 * console.log(store.list().map((row) => `${row.id} ${row.name} ${row.outcome ?? 'not ended'}`));
 * store.close();
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<Store> {
  const driver = await loadDriver({ allowOld: options.allowOldSqlite ?? false });
  return new SqliteStore(openDatabase(driver, path, options.durability ?? 'fast'), resolve(path));
}

/** The SQLite that stores are opened with. */
export interface SqliteInUse {
  /** `node:sqlite`, or the package. */
  readonly driver: string;
  /** Of SQLite itself. */
  readonly version: string;
}

/**
 * Which SQLite `openSqliteStore` uses here.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` when there is none that will do
 * @example
 * const { driver, version } = await sqliteInUse();
 */
export async function sqliteInUse(options: Pick<SqliteStoreOptions, 'allowOldSqlite'> = {}): Promise<SqliteInUse> {
  const { name, version } = await loadDriver({ allowOld: options.allowOldSqlite ?? false });
  return { driver: name, version };
}

/** Where the next batch of a leased run goes. */
interface Place {
  readonly n: number;
  readonly fence: number;
  seq: number;
}

/** The batches of a run have the numbers from n * 2^32 on. */
const BATCHES_OF_RUN = 'b.place BETWEEN (r.n << 32) AND ((r.n << 32) | 4294967295)';
const LEASED = 'fence = ? AND holder IS NOT NULL';

const SQL = {
  create: `INSERT INTO runs (id, name, created_at, parent, fence, holder, host, pid, leased_until)
    VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  run: 'SELECT * FROM runs WHERE id = ?',
  list: 'SELECT * FROM runs ORDER BY created_at DESC, n DESC',
  lease: `UPDATE runs SET fence = ?, holder = ?, host = ?, pid = ?, leased_until = ?, outcome = NULL, ended_at = NULL, cancel = 0
    WHERE n = ?`,
  renew: `UPDATE runs SET leased_until = ? WHERE id = ? AND ${LEASED}`,
  release: `UPDATE runs SET holder = NULL, host = NULL, pid = NULL, leased_until = NULL, outcome = ?, ended_at = ?
    WHERE id = ? AND ${LEASED}`,
  cancel: 'UPDATE runs SET cancel = 1 WHERE id = ?',
  place: `SELECT n, (SELECT max(place) & 4294967295 FROM batches b WHERE ${BATCHES_OF_RUN}) AS last FROM runs r WHERE id = ? AND ${LEASED}`,
  append: `INSERT INTO batches SELECT (n << 32) | ?, ?, ? FROM runs WHERE n = ? AND ${LEASED}`,
  read: `SELECT b.place & 4294967295 AS seq, b.text, b.sum FROM runs r, batches b WHERE r.id = ? AND ${BATCHES_OF_RUN} ORDER BY b.place`,
  cut: 'DELETE FROM batches WHERE place BETWEEN ((? << 32) | ?) AND ((? << 32) | 4294967295)',
  blob: 'SELECT text FROM blobs WHERE digest = ?',
  putBlob: 'INSERT INTO blobs (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING',
  useBlob: 'INSERT INTO blob_uses (n, digest) VALUES (?, ?) ON CONFLICT DO NOTHING',
  answer: `INSERT INTO answers (n, key, question, value, at, by) SELECT n, ?, ?, ?, ?, ? FROM runs WHERE id = ? ON CONFLICT DO NOTHING`,
  answers: `SELECT a.key, a.question, a.value, a.at, a.by FROM answers a JOIN runs r ON a.n = r.n WHERE r.id = ? ORDER BY a.came`,
  usesOf: 'SELECT digest FROM blob_uses WHERE n = (SELECT n FROM runs WHERE id = ?)',
  dropBatches:
    'DELETE FROM batches WHERE place IN (SELECT b.place FROM runs r, batches b WHERE r.id = ? AND ' +
    BATCHES_OF_RUN +
    ')',
  dropAnswers: 'DELETE FROM answers WHERE n = (SELECT n FROM runs WHERE id = ?)',
  dropUses: 'DELETE FROM blob_uses WHERE n = (SELECT n FROM runs WHERE id = ?)',
  dropRun: 'DELETE FROM runs WHERE id = ?',
  dropBlob:
    'DELETE FROM blobs WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.digest = blobs.digest)',
} as const;

/** The store over a database that is open. */
export class SqliteStore implements Store {
  readonly #database: Connection;
  readonly #prepared = new Map<keyof typeof SQL, SqlStatement>();
  /** Where batches of leased runs go: while the lease is good nobody else writes them, so that it needs no query. */
  readonly #places = new Map<string, Place>();

  constructor(
    database: Connection,
    readonly file: string,
  ) {
    this.#database = database;
  }

  create(run: NewRun, holder: Holder, now: number, first?: FirstBatch): Lease {
    checkTexts(run, holder);
    const { id, name, createdAt, parent = null } = run;
    const values = [id, name, createdAt, parent, holder.id, holder.host, holder.pid, now + LEASE_MS];
    const lease = { runId: id, fence: 1 };
    const make = (): void => {
      if (this.#run('create', values) === 0) throw taken(id);
    };
    if (first === undefined) make();
    else {
      checkBatch(first);
      this.#together(() => {
        make();
        this.#append({ ...first, lease, seq: 0 });
      });
    }
    return lease;
  }

  lease(runId: string, holder: Holder, now: number): Lease {
    checkTexts(holder);
    return this.#database.transaction(() => {
      const found = this.#first('run', [runId]);
      if (found === undefined) throw noRun(runId);
      const row = readRow(found);
      checkLease(row, holder, now);
      const fence = row.fence + 1;
      this.#run('lease', [fence, holder.id, holder.host, holder.pid, now + LEASE_MS, found['n'] ?? null]);
      return { runId, fence };
    });
  }

  renew(leases: readonly Lease[], now: number): readonly boolean[] {
    const renewOne = ({ runId, fence }: Lease): boolean => this.#run('renew', [now + LEASE_MS, runId, fence]) === 1;
    return leases.length === 1 ? leases.map(renewOne) : this.#database.transaction(() => leases.map(renewOne));
  }

  release({ runId, fence }: Lease, end: SessionEnd): void {
    checkTexts(end);
    this.#run('release', [end.outcome, end.endedAt, runId, fence]);
    this.#places.delete(runId);
  }

  append(batches: readonly Batch[]): readonly boolean[] {
    for (const batch of batches) checkBatch(batch);
    const [only] = batches;
    // A single statement is a transaction of its own, which costs half as much.
    if (only !== undefined && batches.length === 1 && (only.blobs ?? []).length === 0)
      return this.#remembering(() => [this.#append(only)]);
    return this.#together(() => batches.map((batch) => this.#append(batch)));
  }

  read(runId: string): readonly StoredBatch[] {
    return this.#all('read', [runId]).map(({ seq, text, sum }) => ({
      seq: Number(seq),
      text: String(text),
      sum: String(sum),
    }));
  }

  cut(lease: Lease, seq: number): void {
    this.#places.delete(lease.runId);
    this.#database.transaction(() => {
      const place = this.#place(lease);
      if (place === undefined) throw lost(lease);
      this.#run('cut', [place.n, seq, place.n]);
    });
    this.#places.delete(lease.runId);
  }

  blob(digest: string): string | undefined {
    return optional(this.#first('blob', [digest])?.['text']);
  }

  run(runId: string): RunRow | undefined {
    const row = this.#first('run', [runId]);
    return row === undefined ? undefined : withoutDead(readRow(row));
  }

  list(): readonly RunRow[] {
    return this.#all('list').map((row) => withoutDead(readRow(row)));
  }

  answer(runId: string, answer: Answer): boolean {
    checkTexts(answer);
    const { key, id, value = null, at, by } = answer;
    if (this.#run('answer', [key, id, value, at, by, runId]) === 1) return true;
    if (this.#first('run', [runId]) === undefined) throw noRun(runId);
    return false;
  }

  answers(runId: string): readonly Answer[] {
    return this.#all('answers', [runId]).map(({ key, question, value, at, by }) => ({
      key: String(key),
      id: String(question),
      ...(value === null ? {} : { value: String(value) }),
      at: Number(at),
      by: String(by),
    }));
  }

  requestCancel(runId: string): void {
    if (this.#run('cancel', [runId]) === 0) throw noRun(runId);
  }

  remove(runIds: readonly string[], now: number): readonly string[] {
    return this.#database.transaction(() => {
      const going = [...removable(this.list(), runIds, now)];
      const digests = new Set<SqlValue>();
      for (const id of going) {
        for (const { digest = null } of this.#all('usesOf', [id])) digests.add(digest);
        for (const drop of ['dropBatches', 'dropAnswers', 'dropUses', 'dropRun'] as const) this.#run(drop, [id]);
      }
      for (const digest of digests) this.#run('dropBlob', [digest]);
      return going;
    });
  }

  close(): void {
    // The driver lets go of the file when its statements are gone.
    this.#prepared.clear();
    this.#database.close();
  }

  #together<T>(work: () => T): T {
    return this.#remembering(() => this.#database.transaction(work));
  }

  /** After a failure it is not known any more where batches go. */
  #remembering<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#places.clear();
      throw error;
    }
  }

  #append(batch: Batch): boolean {
    const { lease, seq, text, sum, blobs = [] } = batch;
    const place = this.#place(lease);
    if (place === undefined) return false;
    if (place.seq !== seq) throw outOfOrder(batch);
    // The fence is checked by the statement that writes: no other process gets in between.
    if (this.#run('append', [seq, text, sum, place.n, lease.fence]) === 0) {
      this.#places.delete(lease.runId);
      return false;
    }
    place.seq += 1;
    for (const blob of blobs) {
      this.#run('putBlob', [blob.digest, blob.text]);
      this.#run('useBlob', [place.n, blob.digest]);
    }
    return true;
  }

  #place({ runId, fence }: Lease): Place | undefined {
    const known = this.#places.get(runId);
    if (known?.fence === fence) return known;
    const row = this.#first('place', [runId, fence]);
    if (row === undefined) return undefined;
    const last = row['last'] ?? null;
    const place = { n: Number(row['n']), fence, seq: last === null ? 0 : Number(last) + 1 };
    this.#places.set(runId, place);
    return place;
  }

  #statement(name: keyof typeof SQL): SqlStatement {
    let statement = this.#prepared.get(name);
    if (statement === undefined) {
      statement = this.#database.prepare(SQL[name]);
      this.#prepared.set(name, statement);
    }
    return statement;
  }

  #run(name: keyof typeof SQL, values: readonly SqlValue[]): number {
    return this.#statement(name).run(values);
  }

  #all(name: keyof typeof SQL, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#statement(name).all(values);
  }

  #first(name: keyof typeof SQL, values: readonly SqlValue[]): SqlRow | undefined {
    return this.#all(name, values)[0];
  }
}

function checkBatch({ text, sum, blobs }: FirstBatch): void {
  checkText(text);
  checkText(sum);
  if (blobs !== undefined) checkTexts(...blobs);
}

function readRow(row: SqlRow): RunRow {
  const parent = optional(row['parent']);
  const outcome = optional(row['outcome']);
  const holder = optional(row['holder']);
  return {
    id: String(row['id']),
    name: String(row['name']),
    createdAt: Number(row['created_at']),
    ...(parent === undefined ? {} : { parent }),
    fence: Number(row['fence']),
    ...(outcome === undefined ? {} : { outcome, endedAt: Number(row['ended_at']) }),
    ...(holder === undefined
      ? {}
      : {
          holder: { id: holder, host: String(row['host']), pid: Number(row['pid']) },
          leasedUntil: Number(row['leased_until']),
        }),
    cancelRequested: row['cancel'] === 1,
  };
}

function optional(value: SqlValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
