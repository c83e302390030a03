/**
 * Runs kept in a SQLite file.
 *
 * @example
 * import { openSqliteStore } from 'skein/sqlite';
 *
 * const store = await openSqliteStore('.skein/skein.db');
 */
export { openSqliteStore } from './stores/sqlite.js';
export type { SqliteStoreOptions } from './stores/sqlite.js';
