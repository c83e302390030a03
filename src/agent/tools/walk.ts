import { join } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import type { Folders, Place } from './paths.js';

/** What a walk leaves out, and its signal. */
export interface WalkOptions {
  readonly signal: AbortSignal;
  readonly skip: ReadonlySet<string>;
}

export interface WalkedFile {
  /** Path relative to the start of the walk, with `/`. */
  readonly path: string;
  readonly place: Place;
}

export const MAX_ENTRIES = 200_000;
const MAX_DEPTH = 64;

/** Directories that searches leave out unless the pattern names them. */
export const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/**
 * Yields the regular files below a directory, in name order; the files of a directory come at the place of its name.
 * Does not follow symbolic links. After {@link MAX_ENTRIES} entries the walk ends and calls `stopped`.
 */
export async function* walk(
  folders: Folders,
  from: Place,
  options: WalkOptions,
  stopped: () => void,
): AsyncGenerator<WalkedFile> {
  let left = MAX_ENTRIES;
  const open: { readonly path: string; readonly depth: number; readonly file: boolean }[] = [
    { path: '', depth: 0, file: false },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    throwIfAborted(options.signal);
    const real = join(from.real, next.path);
    const shown = from.shown === '.' ? next.path || '.' : join(from.shown, next.path);
    if (next.file) {
      yield { path: next.path, place: { real, missing: [], shown } };
      continue;
    }
    const entries = await entriesOf(folders, real, shown, next.depth === 0);
    left -= entries.length;
    if (left < 0) return stopped();
    for (const { name, directory } of entries.toReversed()) {
      if (directory && (options.skip.has(name) || next.depth >= MAX_DEPTH)) continue;
      open.push({ path: next.path === '' ? name : `${next.path}/${name}`, depth: next.depth + 1, file: !directory });
    }
  }
}

interface Entry {
  readonly name: string;
  readonly directory: boolean;
}

/** Leaves out unreadable directories below the first: one locked folder must not end a search. */
async function entriesOf(folders: Folders, real: string, shown: string, first: boolean): Promise<readonly Entry[]> {
  try {
    const entries = await folders.list({ real, shown });
    return entries
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .map((entry) => ({ name: entry.name, directory: entry.isDirectory() }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (first) throw error;
    return [];
  }
}

/** Throws `SKEIN_CANCELLED` if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new SkeinError('SKEIN_CANCELLED', 'the tool call was cancelled');
}
