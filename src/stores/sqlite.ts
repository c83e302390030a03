import { checkOptions } from '../base/options.js';
import { resolve } from 'node:path';
import { loadDriver } from './sqlite-driver.js';
import { openDatabase, type Durability } from './sqlite-schema.js';
import { SqliteStore } from './sqlite-store.js';
import type { FileStore } from './sqlite-upkeep.js';

/** Options for opening a store of runs in a SQLite file. */
export interface SqliteStoreOptions {
  /**
   * What a commit survives. `fast`, the default: a killed process. `full`: also a power cut or a crash of the machine; each commit then
   * waits for the disk.
   */
  readonly durability?: Durability;
  /**
   * Whether to accept a SQLite before 3.51.3, which can lose simultaneous writes of two processes. Only for machines without a newer one,
   * where one process at a time uses the store. Default: no.
   */
  readonly allowOldSqlite?: boolean;
}

/**
 * Opens a store in a SQLite file; creates a missing file and folder, for their owner alone. Any number of processes may have it open at
 * once. Needs a Node whose SQLite is 3.51.3 or newer (`process.versions.sqlite`), or the package `@photostructure/sqlite`.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` if SQLite is missing or too old; `SKEIN_STORE` if the file can't be used;
 *   `SKEIN_USAGE` for options that do not exist.
 * @example
 * const store = await openSqliteStore('.skein/skein.db', { durability: 'full' });
 * console.log(store.list().map((row) => `${row.id} ${row.name} ${row.outcome ?? 'not ended'}`));
 * store.close();
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<FileStore> {
  checkOptions<SqliteStoreOptions>('openSqliteStore', options, { durability: 'text', allowOldSqlite: 'true or false' });
  return await openNotedStore(path, options, undefined);
}

/** {@link openSqliteStore}; `made` receives the token of a new store, before another process can record anything in it. */
export async function openNotedStore(
  path: string,
  { durability = 'fast', allowOldSqlite = false }: SqliteStoreOptions,
  made: ((token: string) => void) | undefined,
): Promise<FileStore> {
  const driver = await loadDriver({ allowOld: allowOldSqlite });
  return new SqliteStore(openDatabase(driver, path, durability, made), resolve(path));
}

/** The SQLite used to open stores. */
export interface SqliteInUse {
  /** `node:sqlite`, or the package. */
  readonly driver: string;
  /** Version of SQLite itself. */
  readonly version: string;
}

/**
 * Returns the SQLite that `openSqliteStore` uses on this machine.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` if none is available that is recent enough
 * @example
 * const { driver, version } = await sqliteInUse();
 */
export async function sqliteInUse(options: Pick<SqliteStoreOptions, 'allowOldSqlite'> = {}): Promise<SqliteInUse> {
  checkOptions<typeof options>('sqliteInUse', options, { allowOldSqlite: 'true or false' });
  const { name, version } = await loadDriver({ allowOld: options.allowOldSqlite ?? false });
  return { driver: name, version };
}
