import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RunRow } from '../journal/store.js';
import { threadOfRow } from '../journal/thread-rows.js';
import { Connection } from './sqlite-connection.js';
import { loadDriver } from './sqlite-driver.js';
import { SqliteStore } from './sqlite-store.js';

export interface StoredName {
  readonly id: string;
  readonly workflow: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Runs and conversations, newest first, without those whose row is damaged. */
export interface StoredNames {
  readonly runs: readonly StoredName[];
  readonly threads: readonly StoredName[];
}

/**
 * Reads the names in a store file without leaving a trace: the file is opened read-only, no file is created beside it, and the call does
 * not wait for locks. Accepts any SQLite, since nothing is written.
 *
 * @throws Error if the file can't be read as a store
 */
export async function namesInStore(path: string): Promise<StoredNames> {
  // Reading a pipe or a device could block.
  if (!statSync(path).isFile()) throw new Error(`${path} is not a file`);
  const driver = await loadDriver({ allowOld: true });
  const store = new SqliteStore(new Connection(driver.look(addressOf(path)), path), resolve(path));
  try {
    return {
      runs: namesOf(store.list(), (id) => id),
      threads: namesOf(store.threads(), threadOfRow),
    };
  } finally {
    store.close();
  }
}

/** Without a log, marking the file as immutable lets it be read without creating one. With a log, the file is shared with its writers. */
function addressOf(path: string): string {
  const url = pathToFileURL(resolve(path));
  const logged = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (!logged) url.searchParams.set('immutable', '1');
  return url.href;
}

function namesOf(rows: readonly RunRow[], idOf: (row: string) => string | undefined): readonly StoredName[] {
  return rows.flatMap(({ id: row, name, createdAt, damage }) => {
    const id = damage === undefined ? idOf(row) : undefined;
    return id === undefined ? [] : [{ id, workflow: name, createdAt }];
  });
}
