import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { Store } from '../../journal/store.js';
import type { ThreadOptions, Fork, WorkflowRunOptions } from '../../index.js';
import type { Spending } from '../../events/spending.js';
import type { FileStore } from '../../sqlite.js';
import { printNote } from '../view/streams.js';
import { openRunStore, type OpenRunStoreOptions } from './open-store.js';

export interface Recording {
  /** Absent until `open` was called, and if that returned undefined. */
  store?: Store;
  readonly open?: () => Promise<Store | undefined>;
  readonly origin?: JsonObject;
  readonly resume?: string;
  readonly fork?: Fork;
  /** The conversation of which the run is a turn. */
  readonly thread?: ThreadOptions;
  /** The cost of the run before this session. */
  readonly before?: Spending;
  /** The record of that run, and the changes already reported. */
  readonly goesOn?: NonNullable<WorkflowRunOptions['goesOn']>;
}

/** Stores that end with the process. */
const passing = new WeakSet<Store>();

/** Returns a store for a run that needs one and is not kept: no later command finds it. */
export async function passingStore(): Promise<Store> {
  const { memoryStore } = await import('../../index.js');
  const store = memoryStore();
  passing.add(store);
  return store;
}

/** The store in which later commands find a run. */
export function keptIn(store: Store | undefined): Store | undefined {
  return store === undefined || passing.has(store) ? undefined : store;
}

/**
 * Opens the store for a new run; `create` creates a missing one. Undefined if there is none, or, with a message, if this machine has no
 * SQLite: a run is useful without a store too.
 *
 * @throws SkeinError `SKEIN_STORE`, `SKEIN_USAGE`
 */
export async function storeForRun(options: OpenRunStoreOptions): Promise<FileStore | undefined> {
  try {
    return await openRunStore(options);
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
    const { code, message, hint = 'see the message' } = error;
    if (code !== 'SKEIN_PACKAGE_MISSING') {
      throw new SkeinError(code, message, { hint: `${hint}; --no-store runs without a record`, cause: error });
    }
    printNote(`warning: this run is not recorded, so it can't be resumed: ${message}; ${hint}`);
    return undefined;
  }
}
