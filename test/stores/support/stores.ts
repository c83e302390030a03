import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBuiltin } from 'node:module';
import { onTestFinished } from 'vitest';
import type { Batch, Holder, Lease, Store } from '../../../src/journal/store.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { loadDriver } from '../../../src/stores/sqlite-driver.js';
import { openDatabase } from '../../../src/stores/sqlite-schema.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';
import { SqliteStore } from '../../../src/stores/sqlite-store.js';

/** A kind of store under test. */
export interface StoreKind {
  readonly name: string;
  readonly open: () => Promise<Store>;
}

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skein-stores-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Closes a store after the test. */
export function closing(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}

const hasNodeSqlite = isBuiltin('node:sqlite');
if (!hasNodeSqlite)
  console.info(`note: not tested here: SQLite by node:sqlite, which Node ${process.version} does not have`);

async function openWithNode(): Promise<Store> {
  const driver = await loadDriver({ names: ['node:sqlite'], allowOld: true });
  const path = join(tempFolder(), 'skein.db');
  return closing(new SqliteStore(openDatabase(driver, path, 'fast'), path));
}

/** The kinds of stores that there are here. */
export const STORES: readonly StoreKind[] = [
  { name: 'memory', open: () => Promise.resolve(memoryStore()) },
  { name: 'SQLite', open: async () => closing(await openSqliteStore(join(tempFolder(), 'skein.db'))) },
  {
    name: 'SQLite, full durability',
    open: async () => closing(await openSqliteStore(join(tempFolder(), 'skein.db'), { durability: 'full' })),
  },
  ...(hasNodeSqlite ? [{ name: 'SQLite by node:sqlite', open: openWithNode }] : []),
];

/** A holder that is on another machine, so that nobody can know whether it lives. */
export function holderNamed(id: string): Holder {
  return { id, host: 'elsewhere', pid: 1 };
}

export const ME = holderNamed('me');
export const OTHER = holderNamed('other');

/** A new run. */
export function begin(
  store: Store,
  id: string,
  more: { readonly parent?: string; readonly createdAt?: number } = {},
): Lease {
  return store.create({ id, name: `workflow of ${id}`, createdAt: 1_000, ...more }, ME, 1_000);
}

/** A batch of one line. */
export function batch(lease: Lease, seq: number, more: Partial<Batch> = {}): Batch {
  return { lease, seq, text: JSON.stringify({ run: lease.runId, seq }), sum: `sum ${seq}`, ...more };
}

/** Texts of a run's batches. */
export function textsOf(store: Store, runId: string): readonly string[] {
  return store.read(runId).map((one) => one.text);
}
