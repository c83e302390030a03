import type { BigIntStats } from 'node:fs';
import { lstatSync, statSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { AUDIT_FOLDER, RUN_MARKER, STORE_FOLDER } from '../../base/own-names.js';
import { realOf } from '../../text/files.js';
import { foldedName, foldedPath, namesBelow, isInside } from './compare-paths.js';
import type { OwnPlaces } from './provider-options.js';

/**
 * What no built-in tool may see or write, wherever it lies and whatever name it is called by. All paths must be real paths; they are
 * judged by their names, by the places that are known to be Skein's own, by the identity of what is there (so that a hard link to a file of
 * a place or in it, another spelling or a folder that was renamed meanwhile is recognised), and by what the folders hold.
 */
export interface Protection {
  /** Why a path can't be seen: it belongs to the record of runs. Undefined: it can. */
  hidden(path: string): string | undefined;
  /** Why a path can't be written. Undefined: it can. What can't be seen can't be written either. */
  kept(path: string): string | undefined;
  /** As `hidden`, for an entry of a folder that can be seen. */
  hidesEntry(path: string, isFolder: boolean): boolean;
}

const RECORD = "belongs to Skein's record of runs, which tools neither read nor write";
const DEFINITION = 'is part of a workflow or of its agents and skills, which tools do not write';
const GIT = 'is inside .git, which the file tools do not write';
const GIT_SHAPED =
  'would be part of a folder that Git takes for a repository (HEAD, objects, refs), which tools do not write';

const RECORD_FOLDERS: ReadonlySet<string> = new Set([STORE_FOLDER, AUDIT_FOLDER]);
/** Where agents and skills are looked for, below a working directory. */
export const AGENT_FOLDERS = ['.github/agents', '.github/skills', '.claude/agents', '.claude/skills'];
/** What SQLite puts beside a database. */
export const BESIDE_STORE = ['', '-wal', '-shm', '-journal'];
/** Contents by which Git knows the folder of a repository, or of a working tree of one. */
const GIT_SHAPES = [
  ['head', 'objects', 'refs'],
  ['head', 'commondir'],
];

/**
 * Makes the protection of a session.
 *
 * @param home the working directory, real path
 */
export function createProtection(home: string, places: OwnPlaces): Protection {
  const here = (name: string): string => join(home, name);
  // Known by their names too; by identity a folder is known that gets another name while the tools are open.
  const stores = places.record.flatMap((path) => BESIDE_STORE.map((end) => path + end));
  const record = ownPlaces([...stores, ...[...RECORD_FOLDERS].map(here)], home);
  const git = ownPlaces([here('.git')], home);
  const agents = [...AGENT_FOLDERS.map(here), join(homedir(), '.copilot', 'agents')];
  const definition = ownPlaces([...places.definition, ...agents], home);

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
    return way.some((at) => own.has(at)) ? DEFINITION : undefined;
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

/** A path and the folders above it, up to where the working directory lies in them. */
function above(path: string, home: string): readonly string[] {
  const way: string[] = [];
  for (let at = path; !isInside(at, home); at = dirname(at)) way.push(at);
  return way;
}

function isRunFolder(path: string): boolean {
  return exists(join(path, RUN_MARKER));
}

/** Whether a folder looks like one of Git's own, as it is or once it has an entry of this name. */
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

/** Known places, by name and by identity. */
interface Places {
  /** True when a place has this path. */
  names(path: string): boolean;
  /** The places as they are now. */
  current(): { has(path: string): boolean };
}

function ownPlaces(paths: readonly string[], home: string): Places {
  // A folder around the working directory would leave the tools nothing: what is in it is known by other signs.
  const real = [...new Set(paths.flatMap((path) => [path, realOf(path)]))].filter((path) => !isInside(path, home));
  const folded = new Set(real.map(foldedPath));
  const known = new Map(real.map((path) => [path, identity(path)]));
  const linked = new LinkedFiles(real);
  const names = (path: string): boolean => folded.has(foldedPath(path));
  return {
    names,
    current() {
      // What is there now counts; of a place that is gone, what was there: it may have been given another name.
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
