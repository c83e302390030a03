import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FileStore } from '../../../src/stores/sqlite-upkeep.js';
import { openSqliteStore } from 'skein/sqlite';

/** A file for a store, gone when the test has ended. */
export function sqliteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skein-threads-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'skein.db');
}

/** A store of a file, closed when the test has ended. */
export async function closing(file: string): Promise<FileStore> {
  const store = await openSqliteStore(file);
  onTestFinished(() => store.close());
  return store;
}
