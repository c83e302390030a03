import { basename } from 'node:path';
import { SkeinError } from '../base/errors.js';
import type { SqlDatabase, SqlRow, SqlStatement, SqlValue } from './sqlite-driver.js';
import { resultCode } from './sqlite-driver.js';

const IO_ERROR = 10;

/** What SQLite's result codes mean to a person, and what to do. */
const REASONS: Readonly<Record<number, readonly [reason: string, hint: string]>> = {
  5: ['another process has locked it', 'another process has written to it for seconds: try again'],
  6: ['another process has locked it', 'another process has written to it for seconds: try again'],
  8: ['it is read-only', 'make the file and its folder writable'],
  10: ['the disk reports an I/O error', 'check the disk and make a copy of the file; then resume the run'],
  11: ['it is damaged', 'put a copy back in its place, or move it away'],
  13: ['the disk is full', 'make room; then resume the run'],
  14: ['it cannot be opened', 'check that its folder is there and writable'],
  // The file beside it that its processes share could not be made larger.
  4874: ['the disk is full, or reports an I/O error', 'make room, or check the disk; then resume the run'],
  26: ['it is no SQLite database', 'name another file, or move this one away'],
};

/** An error of a driver as a SkeinError. `action`: what was tried, such as `written`. */
export function storeError(path: string, action: string, cause: unknown): SkeinError {
  const code = resultCode(cause);
  const [reason, hint] = REASONS[code ?? 0] ??
    REASONS[(code ?? 0) & 0xff] ?? [cause instanceof Error ? cause.message : String(cause), ''];
  return new SkeinError('SKEIN_STORE', `${basename(path)} could not be ${action}: ${reason}`, {
    hint: hint === '' ? 'see the cause of this error' : hint,
    cause,
  });
}

/** A database whose errors are Skein's, and which trusts nothing after an error that leaves open what is on the disk. */
export class Connection {
  readonly #database: SqlDatabase;
  readonly #path: string;
  /** Why nothing more is done. */
  #over: SkeinError | undefined;
  #closed = false;

  constructor(database: SqlDatabase, path: string) {
    this.#database = database;
    this.#path = path;
  }

  exec(sql: string): void {
    this.check();
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw this.#failed('written', error);
    }
  }

  prepare(sql: string): SqlStatement {
    let statement: SqlStatement;
    this.check();
    try {
      statement = this.#database.prepare(sql);
    } catch (error) {
      throw this.#failed('read', error);
    }
    return {
      run: (values) => {
        this.check();
        try {
          return statement.run(values);
        } catch (error) {
          throw this.#failed('written', error);
        }
      },
      all: (values) => {
        this.check();
        try {
          return statement.all(values);
        } catch (error) {
          throw this.#failed('read', error);
        }
      },
    };
  }

  /** The first row that a query gives. */
  first(sql: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.prepare(sql).all(values)[0];
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
