import { existsSync } from 'node:fs';
import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { Store } from '../../journal/store.js';
import type { ThreadOptions, Fork, WorkflowRunOptions } from '../../index.js';
import type { Spending } from '../../events/spending.js';
import type { FileStore } from '../../sqlite.js';
import { printNote } from '../view/streams.js';
import type { OpenRunStoreOptions } from './open-store.js';
import { openRunStore, storeFile, storeRoot, noteOwn } from './open-store.js';

/** Where a run is recorded, and what it goes on from. */
export interface Recording {
  /** Absent until `open` was called, and when that gave nothing. */
  store?: Store;
  readonly open?: () => Promise<Store | undefined>;
  readonly origin?: JsonObject;
  readonly resume?: string;
  readonly fork?: Fork;
  /** The conversation that it is a turn of. */
  readonly thread?: ThreadOptions;
  /** What the run cost before this session. */
  readonly before?: Spending;
  /** What was read of that run, and what was told of it. */
  readonly goesOn?: NonNullable<WorkflowRunOptions['goesOn']>;
}

/** Stores that end with the process. */
const passing = new WeakSet<Store>();

/** A store for what must be recorded to go on, and is not kept: no later command finds it. */
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
 * Opens the store for a new run; `create` makes one where there is none. Undefined where there is none, and when this machine has no
 * SQLite, which is said: a run is no less useful for that.
 *
 * @throws SkeinError `SKEIN_STORE`, `SKEIN_USAGE`
 */
export async function storeForRun(options: OpenRunStoreOptions): Promise<FileStore | undefined> {
  try {
    const root = storeRoot(options);
    const isNew = root !== undefined && !existsSync(storeFile(root));
    const store = await openRunStore(options);
    if (isNew && store !== undefined) noteNew(store);
    return store;
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

/** Where nothing can be kept for the user, a resume says what to do. */
function noteNew({ token }: FileStore): void {
  try {
    noteOwn(token);
  } catch {
    // The run is recorded all the same.
  }
}
