import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { allowsOldSqlite, quietSqlite } from '../run/open-store.js';
import { printResult } from '../view/streams.js';
import { versionNumber } from '../own-package.js';

/** `skein version`. */
export function define(command: Command, done: (code: number) => void): void {
  command.action(async () => {
    printResult(`${versionNumber()}\nNode ${process.versions.node}\n${await sqliteLine()}`);
    done(0);
  });
}

async function sqliteLine(): Promise<string> {
  quietSqlite();
  const { sqliteInUse } = await import('../../sqlite.js');
  try {
    const { driver, version } = await sqliteInUse({ allowOldSqlite: allowsOldSqlite() });
    return `SQLite ${version} by ${driver}`;
  } catch (error) {
    if (SkeinError.isInstance(error)) return `no SQLite: ${error.message}`;
    throw error;
  }
}
