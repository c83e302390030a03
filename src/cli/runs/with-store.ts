import { SkeinError } from '../../base/errors.js';
import type { Store } from '../../journal/store.js';
import { openRunStore } from '../run/open-store.js';

/**
 * Does something with the store of runs that belongs to the working directory, and closes it.
 *
 * @throws SkeinError `SKEIN_NO_RUN` when there is none
 * @example
 * const rows = await withStore((store) => store.list());
 */
export async function withStore<T>(body: (store: Store) => T | Promise<T>): Promise<T> {
  const store = await openRunStore({ cwd: process.cwd(), create: false });
  if (store === undefined) {
    throw new SkeinError(
      'SKEIN_NO_RUN',
      'no run is recorded here: there is no .skein/skein.db in this folder or above',
      {
        hint: 'skein run FILE records its run; or change to the folder where it ran',
      },
    );
  }
  try {
    return await body(store);
  } finally {
    store.close();
  }
}
