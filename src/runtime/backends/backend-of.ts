import type { Store } from '../../journal/store.js';
import type { Backend } from './backend.js';
import { inMemory } from './backend.js';
import { recordedIn } from './recorded.js';

/** The back end of a run: in memory or, with a store, with a journal in it. */
export function backendOf(store: Store | undefined): Backend {
  return store === undefined ? inMemory : recordedIn(store);
}
