import { resolve } from 'node:path';
import { loadDriver } from './sqlite-driver.js';
import type { Durability } from './sqlite-schema.js';
import { openDatabase } from './sqlite-schema.js';
import type { FileStore } from './sqlite-store.js';
import { SqliteStore } from './sqlite-store.js';

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
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<FileStore> {
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
