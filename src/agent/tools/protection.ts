import { lstatSync, statSync, readdirSync, type BigIntStats } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { AUDIT_FOLDER, RUN_MARKER, STORE_FOLDER, policyPlaces, userFolders } from '../../base/own-names.js';
import { isInside, realOf } from '../../text/files.js';
import { foldedName, foldedPath, namesBelow } from './compare-paths.js';
import type { OwnPlaces } from './provider-options.js';

/**
 * Decides what no built-in tool may see or write, wherever it is and by whatever name. All paths must be real paths. They are judged by
 * their names, by the known places of Skein, by the identity of the file (which recognizes a hard link to a file of a place or in it,
 * another spelling or a folder that was renamed meanwhile), and by the contents of folders.
 */
export interface Protection {
  /** Why a path is hidden: it belongs to the record of runs. Undefined if it is visible. */
  hidden(path: string): string | undefined;
  /** Why a path is not writable. Undefined if it is. A hidden path is not writable either. */
  kept(path: string): string | undefined;
  /** Like `hidden`, for an entry of a visible folder. */
  hidesEntry(path: string, isFolder: boolean): boolean;
}

const RECORD = "belongs to Skein's record of runs, which tools neither read nor write";
const DEFINITION =
  'is part of a workflow, of its agents and skills, or of what a run was started with, which tools do not write';
const DECIDES = 'is a policy, or belongs to what Skein keeps of your decisions, which tools do not write';
const GIT = 'is inside .git, which the file tools do not write';
const GIT_SHAPED =
  'would be part of a folder that Git takes for a repository (HEAD, objects, refs), which tools do not write';

const RECORD_FOLDERS: ReadonlySet<string> = new Set([STORE_FOLDER, AUDIT_FOLDER]);
/** Folders of agents and skills below a working directory. */
export const AGENT_FOLDERS = ['.github/agents', '.github/skills', '.claude/agents', '.claude/skills'];
/** Suffixes of a SQLite database and the files beside it. */
export const BESIDE_STORE = ['', '-wal', '-shm', '-journal'];
/** Contents by which Git recognizes the folder of a repository, or of a working tree of one. */
const GIT_SHAPES = [
  ['head', 'objects', 'refs'],
  ['head', 'commondir'],
];

/**
 * Creates the protection of a session.
 *
 * @param home the working directory, as a real path
 */
export function createProtection(home: string, places: OwnPlaces): Protection {
  const here = (name: string): string => join(home, name);
  // Places are known by name, and by identity for a folder that is renamed while the tools are open.
  const stores = places.record.flatMap((path) => BESIDE_STORE.map((end) => path + end));
  const record = ownPlaces([...stores, ...[...RECORD_FOLDERS].map(here)], home);
  const git = ownPlaces([here('.git')], home);
  const agents = [...AGENT_FOLDERS.map(here), join(homedir(), '.copilot', 'agents')];
  const definition = ownPlaces([...places.definition, ...agents], home);
  const deciding = ownPlaces(decidingPlaces(home), home);

  const hidden = (path: string): string | undefined => {
    const own = record.current();
    if (namesBelow(home, path).some((name) => RECORD_FOLDERS.has(name))) return RECORD;
    return above(path, home).some((at) => own.has(at) || isRunFolder(at)) ? RECORD : undefined;
  };
  const kept = (path: string): string | undefined => {
    const reason = hidden(path);
    if (reason !== undefined) return reason;
    const names = namesBelow(home, path);
    const way = above(path, home);
    const ofGit = git.current();
    if (names.includes('.git') || way.some((at) => ofGit.has(at))) return GIT;
    if (AGENT_FOLDERS.some((folder) => `/${names.join('/')}/`.includes(`/${folder}/`))) return DEFINITION;
    if (hasShape(path) || way.some((at) => hasShape(dirname(at), basename(at)))) return GIT_SHAPED;
    const own = definition.current();
    if (way.some((at) => own.has(at))) return DEFINITION;
    const decides = deciding.current();
    return way.some((at) => decides.has(at)) ? DECIDES : undefined;
  };
  return {
    hidden,
    kept,
    hidesEntry(path, isFolder) {
      if (RECORD_FOLDERS.has(foldedName(basename(path))) || record.names(path)) return true;
      return isFolder && isRunFolder(path);
    },
  };
}

/** What decides about later runs: the policies, and the user's own folders. */
export function decidingPlaces(home: string): readonly string[] {
  return [...policyPlaces(home), ...Object.values(userFolders())];
}

/** Returns a path and the folders above it, up to one that contains the working directory. */
function above(path: string, home: string): readonly string[] {
  const way: string[] = [];
  for (let at = path; !isInside(at, home); at = dirname(at)) way.push(at);
  return way;
}

function isRunFolder(path: string): boolean {
  return exists(join(path, RUN_MARKER));
}

/** Whether a folder looks like one of Git's own, as it is or with an added entry of this name. */
function hasShape(folder: string, entry?: string): boolean {
  const coming = entry === undefined ? undefined : foldedName(entry);
  return GIT_SHAPES.some((names) =>
    names.every((name) => name === coming || exists(join(folder, name === 'head' ? 'HEAD' : name))),
  );
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

interface Places {
  names(path: string): boolean;
  current(): { has(path: string): boolean };
}

function ownPlaces(paths: readonly string[], home: string): Places {
  // A folder around the working directory would leave the tools nothing: its contents are recognized by other signs.
  const real = [...new Set(paths.flatMap((path) => [path, realOf(path)]))].filter((path) => !isInside(path, home));
  const folded = new Set(real.map(foldedPath));
  const known = new Map(real.map((path) => [path, identity(path)]));
  const linked = new LinkedFiles(real);
  const names = (path: string): boolean => folded.has(foldedPath(path));
  return {
    names,
    current() {
      // The current identity of a place counts; if the place is gone, its last one: it may have been renamed.
      const ids = new Set<string>();
      for (const path of real) {
        const id = identity(path) ?? known.get(path);
        if (id === undefined) continue;
        known.set(path, id);
        ids.add(id);
      }
      return {
        has(path) {
          if (names(path)) return true;
          const found = ids.size === 0 ? undefined : lookAt(path);
          return found !== undefined && (ids.has(fileId(found)) || linked.has(found));
        },
      };
    },
  };
}

function identity(path: string): string | undefined {
  const found = lookAt(path);
  return found === undefined ? undefined : fileId(found);
}

function lookAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

/** A new name changes a file's `ctime`, which file systems keep with at least this precision, in milliseconds. */
const COARSEST_MS = 2_000;

export function fileId({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/**
 * Files in certain folders that have another name somewhere (hard links). The folders are scanned only for a file with several names, and
 * again only for one that may have got a name since: a large project full of such files costs one scan.
 */
export class LinkedFiles {
  /** A file that was seen in the folders stays known, wherever they are moved. */
  private readonly known = new Set<string>();
  private lookedAt = -Infinity;

  constructor(private readonly folders: readonly string[]) {}

  /** Whether this file is also in one of the folders. */
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
      // The file is gone meanwhile.
    }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // A missing or unreadable folder has no names that a tool could use.
    return [];
  }
}
