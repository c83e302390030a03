import { join } from 'node:path';
import { openSqliteStore } from '../../../src/sqlite.js';
import type { Store } from '../../../src/journal/store.js';
import { makeProject } from './skein.js';

/** A project whose store of runs was filled by this process. Gives the folder and what `fill` gave. */
export async function projectWith<T>(
  fill: (store: Store) => Promise<T>,
): Promise<{ readonly cwd: string; readonly made: T }> {
  const cwd = await makeProject();
  const store = await openSqliteStore(join(cwd, '.skein/skein.db'));
  try {
    return { cwd, made: await fill(store) };
  } finally {
    store.close();
  }
}
