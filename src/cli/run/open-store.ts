import { existsSync, lstatSync, mkdirSync, statSync, writeFileSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import { STORE_FOLDER } from '../../base/own-names.js';
import type { FileStore } from '../../sqlite.js';
import { stateFolder } from './project.js';

/** Name of the store in its folder. */
const FILE = 'skein.db';

const DURABILITIES = ['fast', 'full'] as const;

/** What a commit survives. See `openSqliteStore`. */
export type Durability = (typeof DURABILITIES)[number];

export interface OpenRunStoreOptions {
  readonly cwd: string;
  readonly create: boolean;
  /** Defaults to the environment variable `SKEIN_DURABILITY`, or `fast`. */
  readonly durability?: Durability;
}

/**
 * Opens the store of runs for a folder. Undefined if there is none and none is to be created. The caller closes the store. `made`: receives
 * the token of a new store; by default, the store is noted as this user's.
 *
 * @throws SkeinError `SKEIN_PACKAGE_MISSING` without a SQLite driver, `SKEIN_STORE` for an unusable file, `SKEIN_USAGE` for an
 *   invalid `SKEIN_DURABILITY`.
 */
export async function openRunStore(
  options: OpenRunStoreOptions,
  made: (token: string) => void = noteNew,
): Promise<FileStore | undefined> {
  const root = storeRoot(options);
  if (root === undefined) return undefined;
  const durability = options.durability ?? durabilityOf(process.env['SKEIN_DURABILITY']);
  const { openNotedStore } = await import('../../stores/sqlite.js');
  const path = storeFile(root);
  checkPlaces(join(root, STORE_FOLDER), path);
  quietSqlite();
  try {
    return await openNotedStore(path, { durability, allowOldSqlite: allowsOldSqlite() }, made);
  } catch (error) {
    throw SkeinError.isInstance(error) && error.code === 'SKEIN_STORE' ? withPlace(error, path) : error;
  }
}

/**
 * The file of the store for a folder, for code that only reads it. Undefined if there is none.
 *
 * @throws SkeinError `SKEIN_STORE` for a link or a folder in its place
 */
export function runStoreFile(cwd: string): string | undefined {
  const root = storeRoot({ cwd, create: false });
  if (root === undefined) return undefined;
  checkPlaces(join(root, STORE_FOLDER), storeFile(root));
  return storeFile(root);
}

/** `SKEIN_OLD_SQLITE=1` accepts a SQLite that can lose concurrent writes of two processes, for machines without another. */
export function allowsOldSqlite(): boolean {
  return process.env['SKEIN_OLD_SQLITE'] === '1';
}

/** Refuses what is not a folder with a file in it: a link in a checkout would redirect the record. */
function checkPlaces(folder: string, file: string): void {
  const there = kindAt(folder);
  if (there?.isSymbolicLink() === true) throw misplaced(folder, 'link', 'the folder of recorded runs');
  if (there?.isFile() === true) throw misplaced(folder, 'file', 'the folder of recorded runs');
  const store = kindAt(file);
  if (store?.isSymbolicLink() === true) throw misplaced(file, 'link', 'recorded runs');
  if (store?.isDirectory() === true) throw misplaced(file, 'folder', 'the file of recorded runs');
}

/** @throws SkeinError `SKEIN_STORE` in a folder that this user may not enter */
function kindAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new SkeinError('SKEIN_STORE', `${path}, with the recorded runs, cannot be opened (${code})`, {
      hint: 'check the permissions of its folder',
      cause: error,
    });
  }
}

function misplaced(path: string, kind: string, what: string): SkeinError {
  return new SkeinError('SKEIN_STORE', `${path} is a ${kind}, where ${what} would be`, {
    hint: 'move it away',
  });
}

/** Adds the path to a message of the store: which file it is depends on the folder of the command. */
function withPlace(error: SkeinError, path: string): SkeinError {
  const { code, message, hint = 'see the message' } = error;
  return new SkeinError(code, message, { hint: `${hint} (the file is ${path})`, cause: error });
}

/** The folder whose `.skein` holds the store: the nearest one from the working directory up, without folders of other users. */
export function storeRoot({ cwd, create }: OpenRunStoreOptions): string | undefined {
  const here = resolve(cwd);
  for (const folder of upwards(here)) {
    const inside = join(folder, STORE_FOLDER);
    const found = mayExist(create ? inside : join(inside, FILE));
    if (found && (folder === here || isOurs(inside))) return folder;
  }
  return create ? here : undefined;
}

/** True also for what this user may not look at: runs may be recorded there. */
function mayExist(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

export function storeFile(root: string): string {
  return join(root, STORE_FOLDER, FILE);
}

function durabilityOf(text: string | undefined): Durability {
  if (text === undefined || text === '') return 'fast';
  const known = DURABILITIES.find((name) => name === text);
  if (known !== undefined) return known;
  throw new SkeinError('SKEIN_USAGE', `SKEIN_DURABILITY is ${JSON.stringify(text)}, not a valid durability`, {
    hint: 'fast survives a killed process, full also a power cut',
  });
}

function* upwards(here: string): Generator<string> {
  const home = homedir();
  yield here;
  for (let folder = here; folder !== home;) {
    const above = dirname(folder);
    if (above === folder || above === home) return;
    yield above;
    folder = above;
  }
}

/** A store decides which files and programs a resume runs, so one that another user placed above is ignored. */
function isOurs(path: string): boolean {
  const user = process.getuid?.();
  return user === undefined || statSync(path, { throwIfNoEntry: false })?.uid === user;
}

/** Stores that this user created or trusts, by token. A record decides what a resume starts, so others are not trusted. */
const ownStores = (): string => stateFolder('stores');

const TOKEN = /^[\da-f]{32}$/;

/** Notes that a store belongs to this user. @throws errors of writing the file */
export function noteOwn(token: string): void {
  mkdirSync(ownStores(), { recursive: true, mode: 0o700 });
  writeFileSync(join(ownStores(), token), '', { mode: 0o600 });
}

/** Notes a new store before anything is in it, so that a process that is killed leaves none without its note. */
function noteNew(token: string): void {
  try {
    noteOwn(token);
  } catch {
    // The run is still recorded, and a resume tells the user what to do.
  }
}

/** @throws SkeinError `SKEIN_STORE` for a store that this user has neither created nor trusted */
export function checkOwn(token: string, path: string): void {
  if (process.env['SKEIN_TRUST_STORE'] === '1') return;
  if (TOKEN.test(token) && existsSync(join(ownStores(), token))) return;
  throw new SkeinError(
    'SKEIN_STORE',
    `the recorded runs in ${path} were not made by you here, and say what a resume starts`,
    {
      hint: 'look at them with skein runs and skein show; when you trust them: skein runs trust, or SKEIN_TRUST_STORE=1 where nothing can be kept',
    },
  );
}

/** The SQLite that opens the store of runs, or why it can't be used. */
export async function sqliteHere(): Promise<{ readonly driver: string; readonly version: string } | SkeinError> {
  quietSqlite();
  const { sqliteInUse } = await import('../../stores/sqlite.js');
  try {
    return await sqliteInUse({ allowOldSqlite: allowsOldSqlite() });
  } catch (error) {
    if (SkeinError.isInstance(error)) return error;
    throw error;
  }
}

let quiet = false;

/** Keeps Node from printing at every command that `node:sqlite` is experimental. Other warnings are printed. */
export function quietSqlite(): void {
  if (quiet) return;
  quiet = true;
  const emit = process.emitWarning.bind(process) as (...words: unknown[]) => void;
  process.emitWarning = (...words: unknown[]): void => {
    if (!String(words[0]).startsWith('SQLite is an experimental feature')) emit(...words);
  };
}
