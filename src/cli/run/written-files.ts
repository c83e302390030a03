import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sha256 } from '../../base/hash.js';
import { isPlainObject } from '../../base/json.js';
import type { WrittenFiles } from '../../index.js';
import { printNote } from '../view/streams.js';
import { printable } from '../view/printable.js';
import { isWithin, keep, namesIn, realOf, stateFolder } from './project.js';
import { messageOf } from '../../base/thrown.js';

const FOLDER = 'written';

/** The stored facts about a file. */
interface Kept {
  readonly path: string;
  /** True if programs may run it. */
  readonly runs: boolean;
  /** Digests of what was written there. */
  readonly digests: readonly string[];
}

/** Files that agents wrote under untrusted influence, in the user's own folder: no run, and nothing in a checkout, can remove an entry. */
export function writtenFilesIn(cwd: string): WrittenFiles {
  const here = realOf(cwd);
  const hasName = (path: string): boolean => existsSync(entryOf(path));
  return {
    hasName,
    note(shown, runs, text) {
      const path = realOf(resolve(here, shown));
      const before = readKept(entryOf(path))?.digests ?? [];
      const digests = [...new Set([...before, ...(text === '' ? [] : [sha256(text)])])];
      keepOrSay({ path, runs, digests });
    },
    has(given) {
      const path = realOf(given);
      if (hasName(path)) return true;
      // Most users have none: then nothing is read.
      const digest = existsSync(stateFolder(FOLDER)) ? digestOf(path) : undefined;
      return digest !== undefined && existsSync(textOf(digest));
    },
    planted: () => keptFiles().some(({ path, runs }) => runs && isWithin(path, here) && existsSync(path)),
  };
}

/** Notes that a person vouches for a file as it is now. Returns whether the file needed it. */
export function vouchFor(file: string): boolean {
  const path = realOf(file);
  const kept = readKept(entryOf(path));
  const digest = digestOf(path);
  const digests = [...(kept?.digests ?? []), ...(digest === undefined ? [] : [digest])];
  const known = kept !== undefined || digests.some((one) => existsSync(textOf(one)));
  rmSync(entryOf(path), { force: true });
  for (const one of digests) rmSync(textOf(one), { force: true });
  return known;
}

/** The files that no person has vouched for. */
export function keptFiles(): readonly Kept[] {
  const folder = stateFolder(FOLDER);
  return namesIn(folder).flatMap((name) => {
    const kept = name.startsWith('path-') ? readKept(join(folder, name)) : undefined;
    return kept === undefined ? [] : [kept];
  });
}

function entryOf(path: string): string {
  return join(stateFolder(FOLDER), `path-${sha256(path)}`);
}

function textOf(digest: string): string {
  return join(stateFolder(FOLDER), `text-${digest}`);
}

/** Undefined for anything but a non-empty file: empty files are all the same. */
function digestOf(path: string): string | undefined {
  try {
    const { size } = statSync(path);
    return size === 0 ? undefined : createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return undefined;
  }
}

/** If nothing can be written, other runs do not know of the file, and a message tells so. */
function keepOrSay(kept: Kept): void {
  try {
    keep(entryOf(kept.path), JSON.stringify(kept));
    for (const digest of kept.digests) keep(textOf(digest), kept.path);
  } catch (error) {
    const why = messageOf(error);
    printNote(printable(`warning: other runs will trust ${kept.path}, which can't be noted as untrusted: ${why}`));
  }
}

function readKept(path: string): Kept | undefined {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isPlainObject(kept) || typeof kept['path'] !== 'string') return undefined;
    const { path: file, runs, digests } = kept;
    const known = Array.isArray(digests) ? digests.filter((one: unknown) => typeof one === 'string') : [];
    return { path: file, runs: runs !== false, digests: known.filter((one) => /^[\da-f]{64}$/.test(one)) };
  } catch {
    return undefined;
  }
}
