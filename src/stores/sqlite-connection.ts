import { statSync, statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SkeinError } from '../base/errors.js';
import { isLocked } from '../journal/store.js';
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.js';
import { resultCode } from './sqlite-driver.js';

const IO_ERROR = 10;
const DAMAGED = 11;
const FULL = 13;

/** Another process, or another connection of this one, has it locked. */
const LOCKED: ReadonlySet<number> = new Set([5, 6]);

/** How often a change is tried that others keep from being made; each try waits as long as a statement does. */
const TRIES = 10;

/** Numbers of the system's errors for a disk that is full: ENOSPC, EDQUOT. */
const FULL_DISK: ReadonlySet<unknown> = new Set([28, 122]);

/** What SQLite's result codes mean to a person, and what to do. */
const REASONS: Readonly<Record<number, readonly [reason: string, hint: string]>> = {
  5: ['another process has locked it', 'another process has been writing to it for a long time: try again'],
  6: ['another process has locked it', 'another process has been writing to it for a long time: try again'],
  8: ['it is read-only', 'make the file and its folder writable'],
  10: ['the disk reports an I/O error', 'check the disk and make a copy of the file; then resume the run'],
  11: ['it is damaged', 'put a copy back in its place, or move it away'],
  13: ['the disk is full', 'make room; then resume the run'],
  18: ['a value is too large for it', 'write what is so large to a file, and record its name'],
  14: ['it cannot be opened', 'check that its folder exists and is writable'],
  26: ['it is not an SQLite database', 'name another file, or move this one away'],
};

/** I/O errors that may be a full disk: one of which nothing more is reported, fsync, and that the file which processes share could not be made larger. */
const UNSURE: ReadonlySet<number> = new Set([IO_ERROR, 1034, 4874]);
const FULL_OR_BROKEN = [
  'the disk is full, or reports an I/O error',
  'make room, or check the disk; then resume the run',
] as const;

/** An error of a driver as a SkeinError. `action`: what was tried, such as `written`. */
export function storeError(path: string, action: string, cause: unknown): SkeinError {
  const code = (resultCode(cause) ?? 0) & 0xff;
  const known = code === IO_ERROR ? ioReason(path, cause) : REASONS[code];
  const [reason, hint] = known ?? [cause instanceof Error ? cause.message : String(cause), ''];
  return new SkeinError('SKEIN_STORE', `${basename(path)} could not be ${action}: ${reason}`, {
    hint: hint === '' ? 'see the cause of this error' : hint,
    retryable: LOCKED.has(code),
    cause,
  });
}

/** SQLite calls it an I/O error when a disk turns out to be full only as data is forced to it, or as the file that its processes share grows. */
function ioReason(path: string, cause: unknown): (typeof REASONS)[number] | undefined {
  const { systemErrno } = cause as { readonly systemErrno?: unknown };
  if (systemErrno !== undefined && systemErrno !== 0) return REASONS[FULL_DISK.has(systemErrno) ? FULL : IO_ERROR];
  if (isFullDisk(path)) return REASONS[FULL];
  return UNSURE.has(resultCode(cause) ?? 0) ? FULL_OR_BROKEN : REASONS[IO_ERROR];
}

function isFullDisk(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    return false;
  }
}

/** A database whose errors are Skein's, and which trusts nothing after an error that leaves open what is on the disk. */
export class Connection {
  readonly #database: SqlDatabase;
  readonly #path: string;
  /** Why nothing more is done. */
  #over: SkeinError | undefined;
  #closed = false;
  /** The file that was opened, whatever has its name now. */
  readonly #file: string | undefined;

  constructor(database: SqlDatabase, path: string) {
    this.#database = database;
    this.#path = path;
    this.#file = identityOf(path);
  }

  /** @throws SkeinError `SKEIN_STORE`, now and from now on, when the file has been removed or replaced: nobody will read what is written. */
  checkThere(): void {
    this.check();
    if (identityOf(this.#path) === this.#file) return;
    this.#over = new SkeinError('SKEIN_STORE', `${basename(this.#path)} was removed or replaced while it was in use`, {
      hint: 'the record of this run is gone with it, so it cannot be resumed; leave the folder in place while runs continue',
      details: { removed: true },
    });
    throw this.#over;
  }

  exec(sql: string): void {
    this.#tried('written', () => this.#database.exec(sql));
  }

  prepare(sql: string): SqlStatement {
    const statement = this.#tried('read', () => this.#database.prepare(sql));
    return {
      run: (values) => this.#tried('written', () => statement.run(values)),
      all: (values) => this.#tried('read', () => statement.all(values)),
    };
  }

  /** The first row that a query gives. */
  first(sql: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.prepare(sql).all(values)[0];
  }

  /** {@link transaction}, which waits for others that have locked the file for long. */
  patiently<T>(work: () => T): T {
    for (let tries = 1; ; tries++) {
      try {
        return this.transaction(work);
      } catch (error) {
        if (tries === TRIES || !isLocked(error)) throw error;
      }
    }
  }

  /** Commits all that `work` does, or nothing of it. Other processes write before or after, not in between. */
  transaction<T>(work: () => T): T {
    this.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** The error for pages that contradict each other. */
  damaged(): SkeinError {
    return storeError(
      this.#path,
      'read',
      Object.assign(new Error('pages contradict each other'), { errcode: DAMAGED }),
    );
  }

  /** Moves what was written into the file itself, and closes it. Nothing is lost when the first fails: the next to open it does it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#over === undefined) {
      try {
        this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
      } catch {
        // What was committed is in the file beside it.
      }
    }
    this.#over ??= new SkeinError('SKEIN_STORE', `${basename(this.#path)} has been closed`, { hint: 'open it again' });
    this.#database.close();
  }

  /** @throws SkeinError `SKEIN_STORE` when it was closed, or when an error has left open what is on the disk. */
  check(): void {
    if (this.#over !== undefined) throw this.#over;
  }

  #tried<T>(action: string, work: () => T): T {
    this.check();
    try {
      return work();
    } catch (error) {
      throw this.#failed(action, error);
    }
  }

  /** SQLite itself rolls back after some errors, and says then that there is nothing to roll back. */
  #rollBack(): void {
    if (this.#over !== undefined) return;
    try {
      this.#database.exec('ROLLBACK');
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('no transaction is active')))
        this.#failed('written', error, true);
    }
  }

  /** After an I/O error a second try may be told that all is well though the first data never reached the disk. So there is none. */
  #failed(action: string, cause: unknown, forGood = ((resultCode(cause) ?? 0) & 0xff) === IO_ERROR): SkeinError {
    const error = storeError(this.#path, action, cause);
    if (forGood) this.#over ??= error;
    return error;
  }
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino}`;
}
