import { madeOnce } from '../base/collections.js';
import type { Connection } from './sqlite-connection.js';
import type { SqlRow, SqlStatement, SqlValue } from './sqlite-driver.js';
import { ANSWER_COLUMNS, RUN_COLUMNS, SPENDING_COLUMNS, bytesOf } from './sqlite-rows.js';

/** The batches of a run have the numbers from n * 2^32 on. */
const BATCHES_OF_RUN = 'b.place BETWEEN (r.n << 32) AND ((r.n << 32) | 4294967295)';
const LAST = `(SELECT max(place) & 4294967295 FROM batches b WHERE ${BATCHES_OF_RUN}) AS last`;
const ROW = `n, ${bytesOf(RUN_COLUMNS, 'r')} AS bytes, ${LAST}`;
const N = '(SELECT n FROM runs WHERE id = ?)';

const PAGE = `SELECT b.place & 4294967295 AS seq, text, b.sum AS sum FROM runs r, batches b
    WHERE r.id = ? AND b.place BETWEEN ((r.n << 32) | ?) AND ((r.n << 32) | 4294967295) ORDER BY b.place LIMIT ?`;

const SQL = {
  create: `INSERT INTO runs (${RUN_COLUMNS.join(', ')}, sum) VALUES (${RUN_COLUMNS.map(() => '?').join(', ')}, ?) ON CONFLICT DO NOTHING`,
  write: `UPDATE runs SET ${RUN_COLUMNS.map((name) => `${name} = ?`).join(', ')}, sum = ? WHERE n = ?`,
  run: `SELECT ${ROW} FROM runs r WHERE id = ?`,
  list: `SELECT ${ROW} FROM runs r ORDER BY created_at DESC, n DESC`,
  ids: `SELECT CAST(group_concat(id, char(0)) AS BLOB) AS bytes FROM (SELECT id FROM runs ORDER BY created_at DESC, n DESC)`,
  // A damaged page may hide rows; the index of their ids is in others.
  count: `SELECT (SELECT count(*) FROM runs NOT INDEXED) AS rows,
    (SELECT count(*) FROM runs INDEXED BY sqlite_autoindex_runs_1) AS indexed`,
  place: `SELECT n, ${LAST} FROM runs r WHERE id = ? AND fence = ? AND holder IS NOT NULL`,
  append: 'INSERT INTO batches SELECT (n << 32) | ?, ?, ? FROM runs WHERE n = ? AND fence = ? AND holder IS NOT NULL',
  read: `SELECT seq, CAST(text AS BLOB) AS bytes, CAST(sum AS BLOB) AS sum FROM (${PAGE})`,
  // A row costs far more than its bytes, so a page of batches is read as one row. Their numbers show whether they are in order.
  readPage: `SELECT CAST(group_concat(seq || char(0) || coalesce(text, '') || char(0) || coalesce(sum, ''), char(0)) AS BLOB) AS bytes FROM (${PAGE})`,
  cut: 'DELETE FROM batches WHERE place BETWEEN ((? << 32) | ?) AND ((? << 32) | 4294967295)',
  blob: 'SELECT CAST(text AS BLOB) AS bytes FROM blobs WHERE digest = ?',
  putBlob: 'INSERT INTO blobs (digest, text) VALUES (?, ?) ON CONFLICT DO NOTHING',
  useBlob: 'INSERT INTO blob_uses (n, digest) VALUES (?, ?) ON CONFLICT DO NOTHING',
  answer: `INSERT INTO answers (n, ${ANSWER_COLUMNS.join(', ')}, sum) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  answers: `SELECT n, ${bytesOf(['n', ...ANSWER_COLUMNS], 'a')} AS bytes FROM answers a WHERE n = ${N} ORDER BY came`,
  plantedAnswers: `DELETE FROM answers WHERE n = ${N}`,
  plantedBatches: `DELETE FROM batches WHERE place BETWEEN (${N} << 32) AND ((${N} << 32) | 4294967295)`,
  spending: `SELECT ${bytesOf(SPENDING_COLUMNS, 's')} AS bytes FROM spending s WHERE key = ?`,
  allSpending: `SELECT ${bytesOf(SPENDING_COLUMNS, 's')} AS bytes FROM spending s`,
  putSpending: `INSERT OR REPLACE INTO spending (${SPENDING_COLUMNS.join(', ')}, sum) VALUES (?, ?, ?, ?, ?, ?)`,
  dropSpending: 'DELETE FROM spending WHERE key = ? AND run = ? AND fence = ?',
  fork: 'SELECT 1 AS found FROM runs WHERE parent = ? LIMIT 1',
  leave: 'INSERT INTO leavings (n) VALUES (?)',
  dropRun: 'DELETE FROM runs WHERE n = ?',
  leavings: 'SELECT n FROM leavings LIMIT 1',
  dropBatches: `DELETE FROM batches WHERE place IN (
    SELECT place FROM batches WHERE place BETWEEN (? << 32) AND ((? << 32) | 4294967295) LIMIT ?)`,
  use: 'SELECT CAST(digest AS BLOB) AS bytes FROM blob_uses WHERE n = ? LIMIT 1',
  dropUse: 'DELETE FROM blob_uses WHERE n = ? AND digest = ?',
  dropAnswers: 'DELETE FROM answers WHERE n = ?',
  cleaned: 'DELETE FROM leavings WHERE n = ?',
  dropBlob:
    'DELETE FROM blobs WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.digest = blobs.digest)',
} as const;

/** The statements of the store, compiled on first use. */
export class Statements {
  readonly #database: Connection;
  readonly #prepared = new Map<keyof typeof SQL, SqlStatement>();

  constructor(database: Connection) {
    this.#database = database;
  }

  /** Returns the number of changed rows. */
  run(name: keyof typeof SQL, values: readonly SqlValue[]): number {
    return this.#statement(name).run(values);
  }

  all(name: keyof typeof SQL, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#statement(name).all(values);
  }

  first(name: keyof typeof SQL, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.all(name, values)[0];
  }

  clear(): void {
    this.#prepared.clear();
  }

  #statement(name: keyof typeof SQL): SqlStatement {
    return madeOnce(this.#prepared, name, () => this.#database.prepare(SQL[name]));
  }
}
