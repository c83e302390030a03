import { SkeinError } from '../../base/errors.js';
import type { RunReader } from '../../recorded-runs.js';
import type { FileStore } from '../../sqlite.js';
import { openRunStore, storeRoot, type OpenRunStoreOptions } from '../run/open-store.js';
import { recordedIn, type Recorded } from './find-run.js';

/**
 * Opens the store of runs for the working directory, passes it to a function, and closes it.
 *
 * @throws SkeinError `SKEIN_NO_RUN` if there is none
 */
export async function withStore<T>(
  body: (store: FileStore, root: string) => T | Promise<T>,
  options: Pick<OpenRunStoreOptions, 'durability'> = {},
): Promise<T> {
  const opening = { ...options, cwd: process.cwd(), create: false };
  const root = storeRoot(opening);
  const store = await openRunStore(opening);
  if (store === undefined || root === undefined) {
    throw new SkeinError(
      'SKEIN_NO_RUN',
      'no run is recorded here: there is no .skein/skein.db in this folder or above',
      {
        hint: 'skein run FILE records its run; or change to the folder where it ran',
      },
    );
  }
  try {
    return await body(store, root);
  } finally {
    store.close();
  }
}

/**
 * Opens the runs of the working directory for reading or answering.
 *
 * @throws SkeinError `SKEIN_NO_RUN` if there is no store
 */
export async function withRuns<T>(
  body: (runs: RunReader, recorded: Recorded, store: FileStore) => Promise<T>,
): Promise<T> {
  return await withStore(async (store) => {
    const { storeReader } = await import('../../recorded-runs.js');
    return await body(storeReader(store), recordedIn(store), store);
  });
}
