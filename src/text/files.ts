import { constants, realpathSync } from 'node:fs';
import { open, readdir, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Position } from '../base/problem.js';
import type { Findings } from './findings.js';
import { YAML_LIMITS } from './yaml-limits.js';

export type FileFailure =
  'missing' | 'unreadable' | 'directory' | 'special' | 'too-large' | 'binary' | 'not-a-directory' | 'outside';

/** Why a file could not be read. `message` continues a sentence that starts with the file's name: `does not exist`. */
export interface Unread {
  readonly ok: false;
  readonly failure: FileFailure;
  readonly message: string;
  readonly hint?: string;
}

export type ReadResult = { readonly ok: true; readonly text: string } | Unread;

/** Decides whether a file or folder may be read. `path` is absolute. */
export type MayRead = (path: string) => boolean;

/** The result for a file or folder that may not be read. */
export const NOT_READ: Unread = {
  ok: false,
  failure: 'outside',
  message: 'lies outside of the project, and is not read',
  hint: 'put it into the project, or say yes to what the workflow reads',
};

/** The names in a directory, or why they could not be listed. */
export type ListResult = { readonly ok: true; readonly names: readonly string[] } | Unread;

/** Reads a regular file of at most `maxBytes` as UTF-8. Pipes, devices and directories are refused before anything is read. */
export async function readText(path: string, maxBytes: number = YAML_LIMITS.maxBytes): Promise<ReadResult> {
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const info = await handle.stat();
    if (info.isDirectory()) return refuse('directory', 'is a directory, not a file', 'name a file in it');
    if (!info.isFile()) return refuse('special', 'is not a regular file');
    if (info.size > maxBytes) return tooMuch(info.size, maxBytes);
    return await readAll(handle, maxBytes);
  } catch (error) {
    return failed(error, 'file');
  } finally {
    await handle?.close();
  }
}

async function readAll(handle: FileHandle, maxBytes: number): Promise<ReadResult> {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > maxBytes) return tooMuch(length, maxBytes);
  const bytes = buffer.subarray(0, length);
  if (bytes.includes(0))
    return refuse('binary', 'is not a text file: it contains NUL bytes', 'text files must be UTF-8');
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return refuse('binary', 'is not UTF-8 text', 'save it as UTF-8');
  }
}

/** Reports a file or directory that could not be read. Problem codes: `file-missing`, `file-unreadable` ... */
export function reportUnread(result: Unread, what: string, at: Position | undefined, findings: Findings): void {
  findings.error(`file-${result.failure}`, `${what} ${result.message}`, at, result.hint);
}

/** Returns all names in a directory. Empty if it can't be read. */
export async function listNames(directory: string): Promise<readonly string[]> {
  return await readdir(directory).catch((): string[] => []);
}

/** Agent folders hold dozens of files. A folder with more than this is something else. */
const MAX_LISTED = 1_000;

/** Lists a directory's Markdown files in byte order, without entering subdirectories. */
export async function listMarkdown(directory: string): Promise<ListResult> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith('.md'))
      .map((entry) => entry.name);
    if (names.length > MAX_LISTED)
      return refuse('too-large', `holds more than ${MAX_LISTED} Markdown files`, 'name a folder of agents alone');
    return { ok: true, names: names.toSorted() };
  } catch (error) {
    return failed(error, 'directory');
  }
}

/** The maximum depth of folders searched. */
const MAX_DEPTH = 8;

/**
 * Finds the files with a name in a folder and its subfolders: relative to `base`, with `/`, in byte order. `path` is a folder, or such a
 * file. Symbolic links are not followed, so nothing outside `base` is found.
 */
export async function filesBeneath(base: string, path: string, name: string): Promise<ListResult> {
  const start = await placeBeneath(base, path);
  if (!start.ok) return start;
  try {
    const root = await realpath(base);
    const found = start.isFolder
      ? await namedIn(start.path, name, MAX_DEPTH)
      : basename(start.path) === name
        ? [start.path]
        : [];
    if (found.length > MAX_LISTED)
      return refuse('too-large', `holds more than ${MAX_LISTED} files ${name}`, 'name a folder of fewer');
    return { ok: true, names: found.map((one) => relative(root, one).replaceAll(sep, '/')).toSorted() };
  } catch (error) {
    return failed(error, 'directory');
  }
}

export async function isBeneath(path: string, folder: string): Promise<boolean> {
  return isInside(folder, path) || isInside(await realpath(folder), await realpath(path));
}

/** Whether a file beneath a folder by its path is a link to a place outside it. */
export async function leadsOut(path: string, folder: string): Promise<boolean> {
  try {
    return isInside(folder, path) && !isInside(await realpath(folder), await realpath(path));
  } catch {
    return false;
  }
}

/** True if `path` is `root` or below it, compared by segments. Both must be absolute and normalized. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Resolves a file or folder that must lie beneath a folder, also after links are resolved. */
export async function placeBeneath(
  base: string,
  path: string,
): Promise<{ readonly ok: true; readonly path: string; readonly isFolder: boolean } | Unread> {
  try {
    const root = await realpath(base);
    const start = await realpath(resolve(base, path));
    if (start !== root && !start.startsWith(root + sep))
      return refuse('missing', 'lies outside of the folder', 'put it into the folder');
    return { ok: true, path: start, isFolder: (await stat(start)).isDirectory() };
  } catch (error) {
    return failed(error, 'directory');
  }
}

async function namedIn(folder: string, name: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const own = entries.filter((entry) => entry.isFile() && entry.name === name).map((entry) => join(folder, entry.name));
  const inner = entries.filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && depth > 0);
  const lists = await Promise.all(inner.map((entry) => namedIn(join(folder, entry.name), name, depth - 1)));
  return [...own, ...lists.flat()];
}

/** Returns an absolute path: `~/` is the home directory if `home` is known, anything else is relative to `base`. */
export function absolutePath(path: string, base: string, home?: string): string {
  if (home !== undefined && (path === '~' || path.startsWith('~/'))) return join(home, path.slice(1));
  return resolve(base, path);
}

/** Returns a path for display: relative to `base` if it lies inside, unchanged otherwise. */
export function shownPath(path: string, base: string): string {
  const inside = relative(base, path);
  const leaves = inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return inside === '' || leaves ? path : inside;
}

function refuse(failure: FileFailure, message: string, hint?: string): Unread {
  return { ok: false, failure, message, ...(hint === undefined ? {} : { hint }) };
}

function tooMuch(bytes: number, maxBytes: number): Unread {
  return refuse(
    'too-large',
    `has ${bytes} bytes or more; the limit is ${maxBytes}`,
    'pass large data as an input instead',
  );
}

function failed(error: unknown, what: 'file' | 'directory'): Unread {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT')
    return refuse('missing', 'does not exist', 'check the path; it is relative to where it is named');
  if (code === 'ENOTDIR')
    return refuse(
      'not-a-directory',
      what === 'directory' ? 'is not a directory' : 'is inside something that is not a directory',
      'check the path',
    );
  if (code === 'EISDIR') return refuse('directory', 'is a directory, not a file', 'name a file in it');
  const reason = code === '' && error instanceof Error ? error.message : code;
  return refuse('unreadable', `cannot be read (${reason})`, `check the permissions of the ${what}`);
}

/** Resolves the existing part of a path, and appends the rest. */
export function realOf(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync(at), relative(at, path));
    } catch {
      if (dirname(at) === at) return path;
    }
  }
}
