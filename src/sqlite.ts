/**
 * Stores runs in a SQLite file.
 *
 * @example
 * import { openSqliteStore } from 'skein/sqlite';
 *
 * const store = await openSqliteStore('.skein/skein.db');
 */
export { openSqliteStore, sqliteInUse } from './stores/sqlite.js';
export type { SqliteInUse, SqliteStoreOptions } from './stores/sqlite.js';
export type { FileStore } from './stores/sqlite-upkeep.js';
