import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, realpath, readlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { badInput, fileError, refused, systemCode } from './tool-input.js';

/**
 * Confinement of the file tools (threat A4). What holds for every path that comes from a model:
 *
 * - P1 It is resolved to its real path, symbolic links included, and that path must lie inside a root, compared by segments:
 *   `/srv/root-evil` is not inside `/srv/root`.
 * - P2 Nothing outside the roots is looked at, so an error never tells whether something exists there.
 * - P3 The last opening follows no symbolic link, never blocks on a FIFO, and gives a regular file or a directory.
 * - P4 What was opened is checked again through its handle: a directory that was swapped for a link between check and
 *   opening is noticed, and nothing has been read or written by then.
 * - P5 Only the working directory can be written to; the extra directories can be read.
 *
 * A hard link is a name of the file itself, which no check can tell from another: it is followed on reading. Writing
 * replaces the name and leaves the other one alone.
 */
export interface Folders {
  /** The working directory, real path. */
  readonly cwd: string;
  /** Finds a path that may be read. */
  locate(path: string): Promise<Place>;
  /** Finds a path that may be written, that is inside the working directory and outside of `.git`. */
  locateForWriting(path: string): Promise<Place>;
  /** Opens a regular file for reading. */
  openFile(place: Place): Promise<FileHandle>;
  /**
   * Runs `use` with a name of the directory that stays the same directory, whatever happens to its path meanwhile.
   * For `write`, it must lie inside the working directory.
   */
  withDirectory<T>(dir: Directory, use: (anchor: string) => Promise<T>): Promise<T>;
  /** One after the other for the same file: parallel edits of one file lose nothing. */
  inTurn<T>(place: Place, work: () => Promise<T>): Promise<T>;
}

/** A checked path. */
export interface Place {
  /** Real path of what is there, or of the deepest directory that is there followed by what is missing. */
  readonly real: string;
  /** Names below `real`'s deepest existing directory that do not exist yet. */
  readonly missing: readonly string[];
  /** The path as it is shown to the model: relative to the working directory where it lies inside. */
  readonly shown: string;
}

/** A directory to hold on to: its path (real, or below an anchor) and the name that errors show. */
export interface Directory {
  readonly path: string;
  readonly shown: string;
  readonly purpose: 'read' | 'write';
}

const LONGEST_PATH = 4_096;
const onLinux = process.platform === 'linux';

/**
 * Makes the confinement of a session.
 *
 * @param cwd the working directory; must exist
 * @param extraDirs directories that may be read besides
 * @param onMissing told about an extra directory that is not there; it is left out
 * @throws SkeinError `SKEIN_TOOL_FAILED` when the working directory is missing
 */
export async function createFolders(
  cwd: string,
  extraDirs: readonly string[] = [],
  onMissing: (dir: string) => void = () => undefined,
): Promise<Folders> {
  const home = await realDirectory(resolve(cwd));
  const extra: string[] = [];
  for (const dir of extraDirs) {
    const real = await realDirectory(resolve(cwd, dir)).catch(() => undefined);
    if (real === undefined) onMissing(dir);
    else extra.push(real);
  }
  const roots = [home, ...extra];
  const lexical = [...roots, resolve(cwd), ...extraDirs.map((dir) => resolve(cwd, dir))];
  const turns = new Map<string, Promise<unknown>>();

  const find = async (path: string, allowed: readonly string[]): Promise<Place> => {
    const full = resolve(home, checkText(path));
    if (!lexical.some((root) => isInside(root, full))) throw outside(path);
    const { real, missing } = await deepestReal(full, path);
    if (!allowed.some((root) => isInside(root, real))) throw outside(path);
    return { real, missing, shown: isInside(home, real) ? relative(home, real) || '.' : real };
  };

  return {
    cwd: home,
    locate: (path) => find(path, roots),
    async locateForWriting(path) {
      const place = await find(path, [home]);
      if (place.shown.split(sep).some((part) => part.toLowerCase() === '.git')) {
        throw refused(`${place.shown} is inside .git, which the file tools do not write`);
      }
      return place;
    },
    openFile: (place) => openRegular(place, roots),
    withDirectory: (dir, use) => anchorDirectory(dir, dir.purpose === 'write' ? [home] : roots, use),
    async inTurn(place, work) {
      const before = turns.get(place.real) ?? Promise.resolve();
      const mine = before.then(work, work);
      const settled = mine.catch(() => undefined);
      turns.set(place.real, settled);
      try {
        return await mine;
      } finally {
        if (turns.get(place.real) === settled) turns.delete(place.real);
      }
    },
  };
}

/**
 * True when `path` is `root` or below it, compared by segments. Both must be absolute and normal.
 *
 * @example
 * isInside('/srv/root', '/srv/root-evil'); // false
 */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function checkText(path: string): string {
  if (path === '') throw badInput('the path is empty', 'use "." for the working directory');
  if (path.includes('\0')) throw refused('a path must not contain a NUL character');
  if (path.length > LONGEST_PATH) throw badInput(`a path of ${path.length} characters is too long`);
  return path;
}

function outside(path: string): Error {
  return refused(
    `${JSON.stringify(path)} is outside of the directories that this agent may use`,
    'use a path inside the working directory',
  );
}

async function realDirectory(dir: string): Promise<string> {
  try {
    const real = await realpath(dir);
    if ((await lstat(real)).isDirectory()) return real;
  } catch (error) {
    throw fileError(error, dir);
  }
  throw badInput(`${dir} is no directory`);
}

/** The real path of what exists, plus what does not. A dangling link counts as missing and is never followed. */
async function deepestReal(full: string, path: string): Promise<{ real: string; missing: readonly string[] }> {
  const missing: string[] = [];
  let at = full;
  for (;;) {
    try {
      const base = await realpath(at);
      return { real: join(base, ...missing), missing };
    } catch (error) {
      const code = systemCode(error);
      const parent = dirname(at);
      if (code !== 'ENOENT' || parent === at) throw fileError(error, JSON.stringify(path));
      missing.unshift(basename(at));
      at = parent;
    }
  }
}

async function openRegular(place: Place, roots: readonly string[]): Promise<FileHandle> {
  try {
    // Looked at before it is opened, because opening a device or a FIFO can have an effect of its own.
    const before = await lstat(place.real);
    if (before.isDirectory()) throw badInput(`${place.shown} is a directory`, 'list it with list_dir');
    if (!before.isFile()) throw refused(`${place.shown} is no regular file`);
    const handle = await open(place.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const after = await handle.stat();
      if (!after.isFile()) throw refused(`${place.shown} is no regular file`);
      await checkHandle(handle, place.real, place.shown, roots);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw fileError(error, place.shown);
  }
}

/** Rule P4: where the handle really leads. Linux tells it; elsewhere the path must still lead to the same file. */
async function checkHandle(handle: FileHandle, real: string, shown: string, roots: readonly string[]): Promise<void> {
  if (onLinux) {
    const led = await readlink(`/proc/self/fd/${handle.fd}`);
    if (!roots.some((root) => isInside(root, led))) throw moved(shown);
    return;
  }
  const [mine, now, path] = [await handle.stat(), await lstat(real), await realpath(real)];
  if (path !== real || mine.ino !== now.ino || mine.dev !== now.dev) throw moved(shown);
}

function moved(shown: string): Error {
  return refused(`${shown} was replaced while it was opened`);
}

async function anchorDirectory<T>(
  dir: Directory,
  roots: readonly string[],
  use: (anchor: string) => Promise<T>,
): Promise<T> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(dir.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
    await checkHandle(handle, dir.path, dir.shown, roots);
    // On Linux the descriptor is the directory itself, so nothing that happens to its path matters any more.
    return await use(onLinux ? `/proc/self/fd/${handle.fd}` : dir.path);
  } catch (error) {
    throw fileError(error, dir.shown);
  } finally {
    await handle?.close();
  }
}
