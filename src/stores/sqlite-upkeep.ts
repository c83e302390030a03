import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SkeinError } from '../base/errors.js';
import { isLocked, type Store } from '../journal/store.js';
import { isHeld, removable } from './rules.js';
import type { Connection } from './sqlite-connection.js';
import { readRun } from './sqlite-rows.js';
import { dropOutdated } from './sqlite-spending.js';
import type { Statements } from './sqlite-statements.js';

/** A store in a file. */
export interface FileStore extends Store {
  /** A random token, shared only with copies of this store. */
  readonly token: string;
  /** Frees the disk space of removed runs; returns the number of bytes. Others may use the store meanwhile. */
  shrink(): number;
  /**
   * Writes a copy with everything committed at its start to a new file. Others may use the store meanwhile.
   *
   * @throws SkeinError `SKEIN_STORE` if the file already exists, or can't be written
   */
  backup(path: string): void;
}

/** Removes what a file of others has for a run that is new here: planted answers would count as those of a person. */
export function forgetPlanted(statements: Statements, runId: string): void {
  statements.run('plantedAnswers', [runId]);
  statements.run('plantedBatches', [runId, runId]);
}

/** Milliseconds for one transaction of a long operation, so that runs can write in between. */
const SLICE_MS = 5;
/** Processes that wait for a lock check it every few milliseconds: it stays free for this many times as long as it was held. */
const FREE_FOR = 2;

/** Number of batches deleted at once, of 64 KiB each. */
const BATCHES_AT_ONCE = 16;
/** Number of pages (4 KiB each) freed at once. */
const PAGES_AT_ONCE = 64;

/** Removes runs in many small transactions. Each first leaves a note, so that the next removal cleans up after a killed one. */
export function removeRuns(
  database: Connection,
  statements: Statements,
  asked: readonly string[],
  now: number,
): readonly string[] {
  const rows = statements.all('list').map((row) => readRun(row).row);
  const going = removable(rows, asked, now);
  const removed: string[] = [];
  let left = rows.filter(({ id }) => going.has(id)).map(({ id }) => id);
  // Forks are removed before their parents.
  for (let before = -1; left.length > 0 && removed.length !== before;) {
    before = removed.length;
    const stay: string[] = [];
    const ids = left.values();
    inSlices(database, () => {
      const { done, value: id } = ids.next();
      if (done === true) return false;
      if (removeRow(statements, id, now)) removed.push(id);
      else stay.push(id);
      return true;
    });
    left = stay;
  }
  inSlices(database, () => cleanUp(statements));
  database.patiently(() => dropOutdated(statements, now));
  return removed;
}

/** Returns false while a process holds the run, or a fork of it exists: this may have changed a moment ago. */
function removeRow(statements: Statements, id: string, now: number): boolean {
  const found = statements.first('run', [id]);
  if (found === undefined) return false;
  const { n, row } = readRun(found);
  if (row.damage !== undefined || isHeld(row, now) || statements.first('fork', [id]) !== undefined) return false;
  statements.run('leave', [n]);
  statements.run('dropRun', [n]);
  return true;
}

/** Deletes a piece of what removed runs left behind; returns false if nothing is left. */
function cleanUp(statements: Statements): boolean {
  const n = statements.first('leavings')?.['n'];
  if (typeof n !== 'number') return false;
  if (statements.run('dropBatches', [n, n, BATCHES_AT_ONCE]) > 0) return true;
  const use = statements.first('use', [n]);
  if (use !== undefined) {
    const digest = Buffer.from(use['bytes'] as Uint8Array).toString();
    statements.run('dropUse', [n, digest]);
    statements.run('dropBlob', [digest]);
    return true;
  }
  statements.run('dropAnswers', [n]);
  statements.run('cleaned', [n]);
  return true;
}

/** Frees the disk space of unused pages; returns the bytes. A file from before version 2 is rewritten for that, if nobody else uses it. */
export function shrink(database: Connection): number {
  const before = bytesIn(database);
  if (database.first('PRAGMA auto_vacuum')?.['auto_vacuum'] === 0) writeAnew(database);
  else {
    inSlices(database, () => {
      if (Number(database.first('PRAGMA freelist_count')?.['freelist_count'] ?? 0) === 0) return false;
      database.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
      return true;
    });
  }
  // The first checkpoint lets others write while it moves pages; the second waits for a moment in which nobody writes.
  database.first('PRAGMA wal_checkpoint(PASSIVE)');
  database.first('PRAGMA wal_checkpoint(TRUNCATE)');
  return before - bytesIn(database);
}

function writeAnew(database: Connection): void {
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  try {
    database.exec('VACUUM');
  } catch (error) {
    if (!isLocked(error)) throw error;
  }
}

function bytesIn(database: Connection): number {
  const value = (name: string): number => Number(database.first(`PRAGMA ${name}`)?.[name] ?? 0);
  return value('page_count') * value('page_size');
}

/**
 * Writes a copy to a new file: everything committed when it began, whatever others write meanwhile.
 *
 * @throws SkeinError `SKEIN_STORE` if the file already exists, or can't be written
 */
export function backUp(database: Connection, path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const folder = dirname(path);
    const why = { EEXIST: 'it is there already', ENOENT: `the folder ${folder} does not exist` }[code ?? ''];
    throw new SkeinError(
      'SKEIN_STORE',
      `${basename(path)} could not be written: ${why ?? message.split(', ')[0] ?? ''}`,
      {
        hint: code === 'ENOENT' ? 'make the folder first' : 'name a new file in a folder that you may write to',
        cause,
      },
    );
  }
  try {
    database.exec(`VACUUM INTO '${path.replaceAll("'", "''")}'`);
    for (const one of [path, dirname(path)]) syncFile(one);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

function syncFile(path: string): void {
  if (process.platform === 'win32') return;
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Calls `piece` until it returns false, in transactions of some milliseconds with free time in between. */
function inSlices(database: Connection, piece: () => boolean): void {
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const start = performance.now();
    const goesOn = database.patiently(() => {
      while (performance.now() - start < SLICE_MS) if (!piece()) return false;
      return true;
    });
    if (!goesOn) return;
    Atomics.wait(waiting, 0, 0, FREE_FOR * (performance.now() - start));
  }
}
