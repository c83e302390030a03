import { closeSync, lstatSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { madeOnce } from '../base/collections.js';
import { SkeinError } from '../base/errors.js';
import { IGNORE_FILE, STORE_FOLDER } from '../base/own-names.js';
import { isLocked } from '../journal/store.js';
import { Connection, storeError } from './sqlite-connection.js';
import type { SqlDriver } from './sqlite-driver.js';
import { ANSWER_COLUMNS, RUN_COLUMNS, bytesOf, sumOfBytes } from './sqlite-rows.js';

/** What a commit survives: `fast` a killed process, `full` also a power cut or a crash of the machine. */
export type Durability = 'fast' | 'full';

/** Version of the tables, kept in the file. */
const SCHEMA_VERSION = 3;

/** "Skei": marks a file as one of Skein. */
const APPLICATION_ID = 0x53_6b_65_69;

/** Milliseconds for which a statement waits for another process. Callers that can wait longer try again. */
export const BUSY_MS = 1_000;

/** Milliseconds for which opening a locked file is tried. */
const OPENING_MS = 10_000;

/**
 * Pages (4 KiB each) in the log before they are moved into the file. Each commit rewrites the end of a journal; the longer the log, the
 * less often that end is moved. SQLite's default of 1,000 cost a quarter of a commit.
 */
const LOG_PAGES = 4_000;

/**
 * A batch is in one tree only, under one number made of its run and its `seq`: a commit of one batch writes one page. Numbers of runs are
 * never reused (AUTOINCREMENT), so that a process whose run was removed can't write into another one.
 */
const FIRST_TABLES = `
CREATE TABLE runs (
  n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, created_at INTEGER NOT NULL, parent TEXT,
  fence INTEGER NOT NULL, holder TEXT, host TEXT, pid INTEGER, leased_until INTEGER,
  outcome TEXT, ended_at INTEGER, cancel INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE batches (place INTEGER PRIMARY KEY, text TEXT NOT NULL, sum TEXT NOT NULL);
CREATE TABLE blobs (digest TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE blob_uses (n INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (n, digest)) WITHOUT ROWID;
CREATE INDEX blob_uses_by_digest ON blob_uses (digest);
CREATE TABLE answers (
  came INTEGER PRIMARY KEY, n INTEGER NOT NULL, key TEXT NOT NULL, question TEXT NOT NULL, value TEXT, at INTEGER NOT NULL,
  by TEXT NOT NULL, UNIQUE (n, key, question)
);
PRAGMA application_id = ${APPLICATION_ID};
`;

/** Version 2: standing of runs, sums of rows, numbers of removed runs that left data behind, a token unique to the store. */
const SECOND_TABLES = `
ALTER TABLE runs ADD COLUMN batches INTEGER;
ALTER TABLE runs ADD COLUMN steps INTEGER;
ALTER TABLE runs ADD COLUMN ms INTEGER;
ALTER TABLE runs ADD COLUMN pauses TEXT;
ALTER TABLE runs ADD COLUMN sum TEXT NOT NULL DEFAULT '';
ALTER TABLE answers ADD COLUMN sum TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE TABLE leavings (n INTEGER PRIMARY KEY);
CREATE TABLE store (token TEXT NOT NULL);
INSERT INTO store VALUES (lower(hex(randomblob(16))));
`;

/** Version 3: spending of runs under shared keys. */
const THIRD_TABLES = `
CREATE TABLE spending (
  key TEXT NOT NULL, run TEXT NOT NULL, fence INTEGER NOT NULL, at INTEGER NOT NULL, counts TEXT NOT NULL, sum TEXT NOT NULL,
  PRIMARY KEY (key, run, fence)
) WITHOUT ROWID;
`;

/**
 * Opens a file; creates it and its folder if missing. `made`: receives the token of a store that has no tables yet, before they are there.
 *
 * @throws SkeinError `SKEIN_STORE` if it is not a Skein database.
 */
export function openDatabase(
  driver: SqlDriver,
  path: string,
  durability: Durability,
  made?: (token: string) => void,
): Connection {
  makeFile(path);
  let connection: Connection;
  try {
    connection = new Connection(driver.open(path), path);
  } catch (error) {
    throw storeError(path, 'opened', error);
  }
  try {
    prepareFile(connection, path, durability, made);
    checkTables(connection, driver, path);
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

/** The file and its folder belong to their owner alone. SQLite gives the files beside it the same rights. */
function makeFile(path: string): void {
  try {
    const folder = dirname(path);
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
    if (made && basename(folder) === STORE_FOLDER) writeFileSync(join(folder, IGNORE_FILE), '*\n');
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory() === true) throw isFolder(path);
    if (there === undefined && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new Error('it is a link to a file that does not exist');
    makeNew(path);
  } catch (error) {
    if (SkeinError.isInstance(error)) throw error;
    const reason = error instanceof Error ? error.message.split(', ')[0] : String(error);
    throw new SkeinError('SKEIN_STORE', `${basename(path)} could not be opened: ${reason}`, {
      hint: 'name a file in a folder that you may write to',
      cause: error,
    });
  }
}

function isFolder(path: string): SkeinError {
  const hint = 'move the folder away, or name a file in it';
  return new SkeinError('SKEIN_STORE', `${basename(path)} could not be opened: it is a folder`, { hint });
}

/**
 * Creates an empty file if it is missing. An existing file is not opened: closing it would release all locks of other connections of this
 * process, so that another process could delete the log that they write to.
 */
function makeNew(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function prepareFile(
  connection: Connection,
  path: string,
  durability: Durability,
  made: ((token: string) => void) | undefined,
): void {
  connection.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // Set before the first page is written, so that space of removed data can be freed piece by piece.
  if (checkOwner(connection, path) === 0) connection.exec('PRAGMA auto_vacuum = INCREMENTAL');
  useLog(connection, path);
  connection.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
  connection.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`);
  // On macOS fsync alone does not reach the disk.
  if (durability === 'full') connection.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  if (checkOwner(connection, path) === SCHEMA_VERSION) return;
  connection.transaction(() => {
    const version = checkOwner(connection, path);
    // Another process may have been faster.
    if (version === SCHEMA_VERSION) return;
    if (version === 0) connection.exec(FIRST_TABLES);
    if (version < 2) sumUp(connection);
    connection.exec(THIRD_TABLES);
    connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    if (version === 0) made?.(tokenIn(connection));
  });
}

export function tokenIn(connection: Connection): string {
  return String(connection.first('SELECT token FROM store')?.['token']);
}

/** Converts the tables of version 1 to version 2. The contents of rows are trusted this once. */
function sumUp(connection: Connection): void {
  connection.exec(SECOND_TABLES);
  const runs = connection.prepare(`SELECT n, ${bytesOf(RUN_COLUMNS, 'r')} AS bytes FROM runs r`).all([]);
  const sumUpRun = connection.prepare('UPDATE runs SET sum = ? WHERE n = ?');
  for (const { n, bytes } of runs) sumUpRun.run([sumOfBytes(bytes), Number(n)]);
  const columns = bytesOf(['n', ...ANSWER_COLUMNS], 'a');
  const answers = connection.prepare(`SELECT came, ${columns} AS bytes FROM answers a`).all([]);
  const sumUpAnswer = connection.prepare('UPDATE answers SET sum = ? WHERE came = ?');
  for (const { came, bytes } of answers) sumUpAnswer.run([sumOfBytes(bytes), Number(came)]);
}

/** Returns the version of the tables; 0 if there are none yet. @throws SkeinError if they are not Skein's, or newer. */
function checkOwner(connection: Connection, path: string): number {
  const version = Number(connection.first('PRAGMA user_version')?.['user_version'] ?? 0);
  const owner = Number(connection.first('PRAGMA application_id')?.['application_id'] ?? 0);
  const tables = Number(connection.first('SELECT count(*) AS tables FROM sqlite_schema')?.['tables'] ?? 0);
  if (owner !== APPLICATION_ID && (tables > 0 || version !== 0)) {
    throw new SkeinError('SKEIN_STORE', `${basename(path)} is a database of another program`, {
      hint: 'name another file',
    });
  }
  if (version > SCHEMA_VERSION) {
    throw new SkeinError(
      'SKEIN_STORE',
      `${basename(path)} was written by a newer Skein: its tables have version ${version}, this one knows ${SCHEMA_VERSION}`,
      { hint: 'use the newer Skein, or name another file' },
    );
  }
  return version;
}

/** What the tables of this version look like. SQLite keeps the text of each statement that made one. */
const expected = new WeakMap<SqlDriver, string>();

function expectedTables(driver: SqlDriver): string {
  const database = new Connection(driver.open(':memory:'), ':memory:');
  for (const tables of [FIRST_TABLES, SECOND_TABLES, THIRD_TABLES]) database.exec(tables);
  const found = tablesIn(database);
  database.close();
  return found;
}

function tablesIn(connection: Connection): string {
  // SQLite's own tables: numbers of runs, and statistics.
  const rows = connection
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4') ORDER BY name, type",
    )
    .all([]);
  return rows.map((row) => Object.values(row).join(' ').replaceAll(/\s+/g, ' ')).join('\n');
}

/**
 * Refuses a file with other tables than Skein's, or with triggers and views: these would change what is recorded, and what is read of it.
 *
 * @throws SkeinError `SKEIN_STORE`
 */
function checkTables(connection: Connection, driver: SqlDriver, path: string): void {
  const wanted = madeOnce(expected, driver, () => expectedTables(driver));
  if (tablesIn(connection) === wanted) return;
  throw new SkeinError('SKEIN_STORE', `${basename(path)} has tables, triggers or views that Skein does not make`, {
    hint: 'name another file, or move this one away',
  });
}

/** Turns on the write-ahead log. Unlike other statements, this one does not wait for other processes that do the same. */
function useLog(connection: Connection, path: string): void {
  const mode = (): unknown => connection.first('PRAGMA journal_mode')?.['journal_mode'];
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; mode() !== 'wal'; waited += 20) {
    let refusal: unknown = new Error('it is on a file system that cannot share memory between processes');
    try {
      if (connection.first('PRAGMA journal_mode = WAL')?.['journal_mode'] === 'wal') return;
    } catch (error) {
      refusal = error;
    }
    if (waited >= OPENING_MS || !isLocked(refusal)) {
      throw SkeinError.isInstance(refusal) ? refusal : storeError(path, 'opened', refusal);
    }
    Atomics.wait(waiting, 0, 0, 20);
  }
}
