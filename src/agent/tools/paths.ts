import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, type Dirent } from 'node:fs';
import { lstat, open, readdir, realpath, type FileHandle } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { NarrowPolicy } from '../../plan/policy.js';
import { isInside, realOf } from '../../text/files.js';
import { isEnvFile } from './compare-paths.js';
import { NO_PLACES, type OwnPlaces } from './provider-options.js';
import type { WrittenFiles } from '../run-trust.js';
import { createProtection } from './protection.js';
import { badInput, fileError, refused, systemCode } from './tool-input.js';

/**
 * Confinement of the file tools (threat A4). Rules for every path that comes from a model:
 *
 * - P1 It is resolved to its real path, symbolic links included, and that path must lie inside a root, compared by segments:
 *   `/srv/root-evil` is not inside `/srv/root`.
 * - P2 Nothing outside the roots is examined, so an error never reveals whether something exists there.
 * - P3 The final open follows no symbolic link, never blocks on a FIFO, and returns a regular file or a directory.
 * - P4 The opened file is checked again through its handle: this detects a directory that was swapped for a link between check and
 *   open, before anything is read or written.
 * - P5 Only the working directory is writable; the extra directories are read-only.
 * - P6 What the protection hides is neither opened nor listed, and what it keeps is not written. It is checked when a path is found,
 *   again for the target of a handle, and once more at the moment when something new gets its name.
 * - P7 A file of secrets (`.env`) is opened only by its own name, because a person is asked by that name.
 *
 * A hard link is a name of the file itself: reading follows it, unless the file is known to be hidden. Writing replaces the name and leaves
 * the other one alone.
 */
export interface Folders {
  /** The working directory, as a real path. */
  readonly cwd: string;
  /** Real paths of the other readable directories. */
  readonly extra: readonly string[];
  readonly own: OwnPlaces;
  /** Files that agents wrote under untrusted influence. */
  readonly written?: WrittenFiles | undefined;
  locate(path: string): Promise<Place>;
  locateForWriting(path: string): Promise<Place>;
  /** Resolves the directory that a program starts in. */
  locateForRunning(path: string): Promise<Place>;
  openFile(place: Place): Promise<FileHandle>;
  /** Lists the visible entries of a directory. */
  list(place: Pick<Place, 'real' | 'shown'>): Promise<readonly Dirent[]>;
  /** Throws if a real path is not writable. */
  checkWriting(real: string, shown: string): void;
  /** Throws for a word of a command that names a path the program must not reach. `reads`: the program can only read. */
  checkWord(word: string, from: Place, reads: boolean): void;
  /**
   * Runs `use` with a name that always refers to this directory, whatever happens to its path meanwhile.
   * For `write`, it must be inside the working directory; for `run`, it must not be a part of Skein's that tools cannot write.
   */
  withDirectory<T>(dir: Directory, use: (anchor: string) => Promise<T>): Promise<T>;
  /** Serializes work on the same file: parallel edits of one file lose nothing. */
  inTurn<T>(place: Place, work: () => Promise<T>): Promise<T>;
}

interface FolderLimits {
  readonly own?: OwnPlaces | undefined;
  /** Folder lists of policies: a path must be in a folder of each list. */
  readonly only?: readonly (readonly string[])[];
  readonly written?: WrittenFiles | undefined;
}

/** A checked path. */
export interface Place {
  /** Real path of the file; if parts are missing, that of the deepest existing directory followed by them. */
  readonly real: string;
  /** Names below `real`'s deepest existing directory that do not exist yet. */
  readonly missing: readonly string[];
  /** The path as the model sees it: relative to the working directory if inside it. */
  readonly shown: string;
  /** Whether the given name was that of a file of secrets. */
  readonly asEnvFile?: boolean;
}

/** A directory to hold open: its path (real, or below an anchor) and its name in errors. */
export interface Directory {
  readonly path: string;
  readonly shown: string;
  readonly purpose: 'read' | 'write' | 'run';
}

const LONGEST_PATH = 4_096;
const onLinux = process.platform === 'linux';

/**
 * Creates the confinement of a session.
 *
 * @param cwd the working directory; must exist
 * @param extraDirs directories that are readable in addition to the working directory
 * @param onMissing called for an extra directory that is missing; it is left out
 * @param limits further limits
 * @throws SkeinError `SKEIN_TOOL_FAILED` if the working directory is missing
 */
export async function createFolders(
  cwd: string,
  extraDirs: readonly string[] = [],
  onMissing: (dir: string) => void = () => undefined,
  { own = NO_PLACES, only = [], written }: FolderLimits = {},
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
  const protection = createProtection(home, own);
  const leaves = leavesPolicy(home, only);
  const reading: Access = { roots, check: checkOf((path) => leaves(path) ?? protection.hidden(path)) };
  const writing: Access = { roots: [home], check: checkOf((path) => leaves(path) ?? protection.kept(path)) };
  const access = { read: reading, write: writing, run: { ...writing, roots } };

  const find = async (path: string, to: Access): Promise<Place> => {
    const full = resolve(home, checkText(path));
    if (!lexical.some((root) => isInside(root, full))) throw outside(path);
    // Also checked by the given name, which may be a link.
    to.check(full, path);
    const { real, missing } = deepestReal(full, path);
    if (!to.roots.some((root) => isInside(root, real))) throw outside(path);
    const shown = isInside(home, real) ? relative(home, real) || '.' : real;
    to.check(real, shown);
    return { real, missing, shown, asEnvFile: isEnvFile(full) };
  };

  return {
    cwd: home,
    extra,
    own,
    written,
    locate: (path) => find(path, reading),
    locateForWriting: (path) => find(path, writing),
    locateForRunning: (path) => find(path, access.run),
    openFile: (place) => openRegular(place, reading),
    list: ({ real, shown }) =>
      anchorDirectory({ path: real, shown, purpose: 'read' }, reading, async (anchor) => {
        const entries = await readdir(anchor, { withFileTypes: true });
        return entries.filter((entry) => !protection.hidesEntry(join(real, entry.name), entry.isDirectory()));
      }),
    withDirectory: (dir, use) => anchorDirectory(dir, access[dir.purpose], use),
    checkWriting: writing.check,
    checkWord(word, from, reads) {
      const real = realOf(resolve(from.real, word.replace(/^~(?=$|[/\\])/, homedir())));
      (reads ? reading : writing).check(real, JSON.stringify(word));
      checkEnvFile({ real, shown: JSON.stringify(word), asEnvFile: isEnvFile(word) });
    },
    inTurn: turns(),
  };
}

interface Access {
  readonly roots: readonly string[];
  readonly check: (real: string, shown: string) => void;
}

function checkOf(reasonAgainst: (path: string) => string | undefined): Access['check'] {
  return (real, shown) => {
    const reason = reasonAgainst(real);
    if (reason !== undefined) throw refused(`${shown} ${reason}`);
  };
}

function turns(): Folders['inTurn'] {
  const last = new Map<string, Promise<unknown>>();
  return async (place, work) => {
    const before = last.get(place.real) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    last.set(place.real, settled);
    try {
      return await mine;
    } finally {
      if (last.get(place.real) === settled) last.delete(place.real);
    }
  };
}

/** Rule P7. */
function checkEnvFile({ real, shown, asEnvFile }: Pick<Place, 'real' | 'shown' | 'asEnvFile'>): void {
  if (asEnvFile === true || !isEnvFile(real)) return;
  throw refused(`${shown} leads to a file of secrets`, `read ${basename(real)} itself, so that a person can be asked`);
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
  throw badInput(`${dir} is not a directory`);
}

/**
 * Returns the real path of what exists, plus the missing rest. A dangling link counts as missing and is never followed. Synchronous, like
 * all checks before a command: a detour through another thread takes many times as long as the answer.
 */
function deepestReal(full: string, path: string): { readonly real: string; readonly missing: readonly string[] } {
  const missing: string[] = [];
  let at = full;
  for (;;) {
    try {
      const base = realpathSync.native(at);
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

async function openRegular(place: Place, access: Access): Promise<FileHandle> {
  checkEnvFile(place);
  try {
    // Examined before opening, because opening a device or a FIFO can have an effect of its own.
    const before = await lstat(place.real);
    if (before.isDirectory()) throw badInput(`${place.shown} is a directory`, 'list it with list_dir');
    if (!before.isFile()) throw refused(`${place.shown} is not a regular file`);
    const handle = await open(place.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const after = await handle.stat();
      if (!after.isFile()) throw refused(`${place.shown} is not a regular file`);
      checkHandle(handle.fd, place.real, place.shown, access);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw fileError(error, place.shown);
  }
}

/** Rule P4: checks where the handle leads. Linux reports it; elsewhere the path must still lead to the same file. */
function checkHandle(fd: number, real: string, shown: string, access: Access): void {
  if (onLinux) {
    const led = readlinkSync(`/proc/self/fd/${fd}`);
    if (!access.roots.some((root) => isInside(root, led))) throw moved(shown);
    access.check(led, shown);
    return;
  }
  const [mine, now, path] = [fstatSync(fd), lstatSync(real), realpathSync.native(real)];
  if (path !== real || mine.ino !== now.ino || mine.dev !== now.dev) throw moved(shown);
  access.check(real, shown);
}

function moved(shown: string): Error {
  return refused(`${shown} was replaced while it was opened`);
}

async function anchorDirectory<T>(dir: Directory, access: Access, use: (anchor: string) => Promise<T>): Promise<T> {
  let fd: number | undefined;
  try {
    fd = openSync(dir.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
    checkHandle(fd, dir.path, dir.shown, access);
    // On Linux the descriptor is the directory itself, so changes of its path have no effect.
    return await use(onLinux ? `/proc/self/fd/${fd}` : dir.path);
  } catch (error) {
    throw fileError(error, dir.shown);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Why a path is outside the folders of a policy; undefined if none objects. `~` is the user's home, `$WORKSPACE` the working directory. */
function leavesPolicy(home: string, only: readonly (readonly string[])[]): (path: string) => string | undefined {
  const lists = only.map((folders) =>
    folders.map((folder) =>
      realOf(resolve(home, folder.replace(/^\$WORKSPACE(?=$|[/\\])/, home).replace(/^~(?=$|[/\\])/, homedir()))),
    ),
  );
  return (path) =>
    lists.every((folders) => folders.some((folder) => isInside(folder, realOf(path))))
      ? undefined
      : `is outside of the folders that a policy allows: ${only.flat().join(', ')}`;
}

/** The same for one path that a workflow names itself. */
export function folderRefusal(policies: readonly NarrowPolicy[], home: string, path: string): string | undefined {
  const lists = policies.flatMap(({ folders }) => (folders === undefined ? [] : [folders]));
  const why = leavesPolicy(home, lists)(path);
  return why === undefined ? undefined : `it ${why}`;
}
