import type { Command } from 'commander';
import { sqliteHere } from '../run/open-store.js';
import { printResult } from '../view/streams.js';
import { versionNumber } from '../own-package.js';

/** `skein version`. */
export function define(command: Command): void {
  command.action(async () => {
    printResult(`${versionNumber()}\nNode ${process.versions.node}\n${await sqliteLine()}`);
  });
}

async function sqliteLine(): Promise<string> {
  const found = await sqliteHere();
  return 'driver' in found ? `SQLite ${found.version} by ${found.driver}` : `no SQLite: ${found.message}`;
}
