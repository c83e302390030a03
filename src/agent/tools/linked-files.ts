import type { BigIntStats } from 'node:fs';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A new name changes a file's `ctime`; file systems keep it no finer than this, in milliseconds. */
const COARSEST_MS = 2_000;

/** Tells a file by its number. */
export function fileId({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/**
 * Files in certain folders that have another name somewhere (hard links). Folders are looked through only when a file with several names is
 * asked about, and again only for one that may have got a name since: a large project full of such files costs one look.
 */
export class LinkedFiles {
  /** A file that was seen in the folders stays known, wherever they are moved. */
  private readonly known = new Set<string>();
  private lookedAt = -Infinity;

  constructor(private readonly folders: readonly string[]) {}

  /** Whether this file is also one of the folders. */
  has(file: BigIntStats): boolean {
    if (!file.isFile() || file.nlink < 2n) return false;
    if (this.known.has(fileId(file))) return true;
    if (Number(file.ctimeMs) < this.lookedAt - COARSEST_MS) return false;
    this.lookedAt = Date.now();
    for (const folder of this.folders) this.look(folder);
    return this.known.has(fileId(file));
  }

  private look(folder: string): void {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.look(path);
      else if (entry.isFile()) this.note(path);
    }
  }

  private note(path: string): void {
    try {
      const found = lstatSync(path, { bigint: true });
      if (found.nlink > 1n) this.known.add(fileId(found));
    } catch {
      // It is gone meanwhile.
    }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // No folder, or none that can be read: what is in it has no name here that a tool could use.
    return [];
  }
}
