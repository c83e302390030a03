import { statSync, statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SkeinError } from '../base/errors.js';
import { isLocked } from '../journal/store.js';
import { resultCode, type SqlDatabase, type SqlRow, type SqlStatement } from './sqlite-driver.js';
import { messageOf } from '../base/thrown.js';

const IO_ERROR = 10;
const DAMAGED = 11;
const FULL = 13;

/** Another process, or another connection of this one, has locked the file. */
const LOCKED: ReadonlySet<number> = new Set([5, 6]);

/** Number of attempts at a change that others prevent; each waits as long as a statement does. */
const TRIES = 10;

/** The system's error numbers for a full disk: ENOSPC, EDQUOT. */
const FULL_DISK: ReadonlySet<unknown> = new Set([28, 122]);

/** The meaning of SQLite's result codes for a person, and what to do. */
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

/** I/O errors that may mean a full disk: one without details, fsync, and a failure to enlarge the file that processes share. */
const UNSURE: ReadonlySet<number> = new Set([IO_ERROR, 1034, 4874]);
const FULL_OR_BROKEN = [
  'the disk is full, or reports an I/O error',
  'make room, or check the disk; then resume the run',
] as const;

/** Converts a driver's error to a SkeinError. `action`: what was tried, such as `written`. */
export function storeError(path: string, action: string, cause: unknown): SkeinError {
  const code = (resultCode(cause) ?? 0) & 0xff;
  const known = code === IO_ERROR ? ioReason(path, cause) : REASONS[code];
  const [reason, hint] = known ?? [messageOf(cause), ''];
  return new SkeinError('SKEIN_STORE', `${basename(path)} could not be ${action}: ${reason}`, {
    hint: hint === '' ? 'see the cause of this error' : hint,
    retryable: LOCKED.has(code),
    cause,
  });
}

/** SQLite reports an I/O error if a disk proves full only on a sync, or when the file that its processes share grows. */
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

/** A database whose errors are Skein's. It refuses further work after an error that leaves unknown what is on the disk. */
export class Connection {
  readonly #database: SqlDatabase;
  readonly #path: string;
  /** Why the connection refuses further work. */
  #over: SkeinError | undefined;
  #closed = false;
  /** Identity of the opened file, whatever has its name later. */
  readonly #file: string | undefined;

  constructor(database: SqlDatabase, path: string) {
    this.#database = database;
    this.#path = path;
    this.#file = identityOf(path);
  }

  /** @throws SkeinError `SKEIN_STORE`, on this and all later calls, if the file was removed or replaced: nobody would read the data. */
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

  first(sql: string): SqlRow | undefined {
    return this.prepare(sql).all([])[0];
  }

  /** A {@link transaction} that waits for others that lock the file for long. */
  patiently<T>(work: () => T): T {
    for (let tries = 1; ; tries++) {
      try {
        return this.transaction(work);
      } catch (error) {
        if (tries === TRIES || !isLocked(error)) throw error;
      }
    }
  }

  /** Commits everything that `work` does, or nothing. Other processes write before or after it, not in between. */
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

  /** Moves the log into the file, and closes it. If moving fails, nothing is lost: the next process that opens the file does it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#over === undefined) {
      try {
        this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
      } catch {
        // Committed data is in the file beside it.
      }
    }
    this.#over ??= new SkeinError('SKEIN_STORE', `${basename(this.#path)} has been closed`, { hint: 'open it again' });
    this.#database.close();
  }

  /** @throws SkeinError `SKEIN_STORE` if it was closed, or if an error has left unknown what is on the disk. */
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

  /** SQLite itself rolls back after some errors, and then reports that no transaction is active. */
  #rollBack(): void {
    if (this.#over !== undefined) return;
    try {
      this.#database.exec('ROLLBACK');
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('no transaction is active')))
        this.#failed('written', error, true);
    }
  }

  /** After an I/O error a second attempt may seem to succeed although the first data never reached the disk. So it is not tried again. */
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
