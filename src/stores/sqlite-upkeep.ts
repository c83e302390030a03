import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SkeinError } from '../base/errors.js';
import { isLocked } from '../journal/store.js';
import { isHeld, removable } from './rules.js';
import type { Connection } from './sqlite-connection.js';
import { readRun } from './sqlite-rows.js';
import { dropOutdated } from './sqlite-spending.js';
import type { Statements } from './sqlite-statements.js';

/** A transaction of what may take long has this many milliseconds, so that runs can write in between. */
const SLICE_MS = 5;
/** Whoever waits for a lock looks for it again after some milliseconds: it is left free for longer than it is held. */
const FREE_FOR = 2;

/** Batches that are deleted at once, of 64 KiB each. */
const BATCHES_AT_ONCE = 16;
/** Pages (4 KiB each) that are given back at once. */
const PAGES_AT_ONCE = 64;

/**
 * Removes runs, in many small transactions. The row of a run goes first, with a note of what it leaves behind: a process that is killed
 * meanwhile leaves no half run, and the next one to remove something cleans up.
 */
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
  // Forks go before their parents.
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

/** False while somebody has the run, or a fork of it is there: that may be so since a moment ago. */
function removeRow(statements: Statements, id: string, now: number): boolean {
  const found = statements.first('run', [id]);
  if (found === undefined) return false;
  const { n, row } = readRun(found);
  if (row.damage !== undefined || isHeld(row, now) || statements.first('fork', [id]) !== undefined) return false;
  statements.run('leave', [n]);
  statements.run('dropRun', [n]);
  return true;
}

/** Deletes a piece of what removed runs left behind; false when there is nothing more. */
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

/**
 * Gives pages that nothing is in any more back to the disk; gives the number of bytes. A file from before version 2 has to be written anew
 * for that, once; while others use it, it stays as it is.
 */
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
  // The first lets others write while it moves what there is; the second waits for a moment in which nobody does.
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
 * Writes a copy to a new file: all that was committed when it began, whatever others write meanwhile.
 *
 * @throws SkeinError `SKEIN_STORE` when the file is there already, or can't be written
 */
export function backUp(database: Connection, path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (cause) {
    const there = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const why = there ? 'it is there already' : ((cause as Error).message.split(', ')[0] ?? '');
    throw new SkeinError('SKEIN_STORE', `${basename(path)} could not be written: ${why}`, {
      hint: 'name a new file in a folder that you may write to',
      cause,
    });
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

/** Calls `piece` until it says that there is nothing more to do, in transactions of some milliseconds with free time in between. */
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
