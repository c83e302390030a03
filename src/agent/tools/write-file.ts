import { randomUUID } from 'node:crypto';
import { constants, mkdirSync, renameSync, type Stats } from 'node:fs';
import { lstat, open, rm } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import type { Folders, Place } from './paths.js';
import { badInput, refused, systemCode, requiredText } from './tool-input.js';
import type { FilesOfCall, Tool } from '../tool.js';

/** Longest text to write, in characters. */
export const MAX_WRITE_CHARS = 8 * 1024 * 1024;

export interface Unchanged {
  readonly ino: number;
  readonly mtimeMs: number;
  readonly size: number;
}

/**
 * Replaces a file atomically and keeps its permissions. With `expected`, leaves a file alone that changed meanwhile.
 *
 * @returns whether the file existed before
 * @throws SkeinError `SKEIN_TOOL_REFUSED` for anything that is not a regular file, `SKEIN_TOOL_FAILED` for an error of the disk
 */
export async function replaceFile(
  folders: Folders,
  place: Place,
  content: string,
  { expected, files }: { readonly expected?: Unchanged; readonly files: FilesOfCall | undefined },
): Promise<boolean> {
  if (content.length > MAX_WRITE_CHARS) throw badInput(`a text of ${content.length} characters is too long to write`);
  const missing = place.missing.slice(0, -1);
  const file = basename(place.real);
  if (place.shown === '.') throw badInput('the working directory is not a file');
  let base = dirname(place.real);
  for (let i = 0; i < missing.length; i++) base = dirname(base);
  const { shown } = place;
  const begins = (): void => {
    folders.checkWriting(place.real, shown);
    files?.writes(shown, content);
  };
  const made = await insideNew(folders, { path: base, real: base, names: missing, shown }, (anchor) =>
    putFile(anchor, file, { content, shown, expected, begins }),
  );
  files?.wrote(shown);
  return made;
}

/**
 * Creates the missing directories one below the other, each through the handle of the one above. The check of a name and its creation are
 * one synchronous action, so that simultaneous calls cannot together create what none of them may.
 */
async function insideNew<T>(
  folders: Folders,
  way: { readonly path: string; readonly real: string; readonly names: readonly string[]; readonly shown: string },
  use: (anchor: string) => Promise<T>,
): Promise<T> {
  return folders.withDirectory({ path: way.path, shown: way.shown, purpose: 'write' }, async (anchor) => {
    const [first, ...rest] = way.names;
    if (first === undefined) return use(anchor);
    const real = join(way.real, first);
    folders.checkWriting(real, way.shown);
    try {
      mkdirSync(join(anchor, first));
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    return insideNew(folders, { path: anchor + sep + first, real, names: rest, shown: way.shown }, use);
  });
}

async function putFile(
  anchor: string,
  file: string,
  what: {
    readonly content: string;
    readonly shown: string;
    readonly expected: Unchanged | undefined;
    /** Called right before the file gets its name; throws if it may not. */
    readonly begins: () => void;
  },
): Promise<boolean> {
  const target = join(anchor, file);
  const before = await statOf(target);
  if (before?.isDirectory() === true) throw badInput(`${what.shown} is a directory`);
  if (before !== undefined && !before.isFile() && !before.isSymbolicLink()) {
    throw refused(`${what.shown} is not a regular file`);
  }
  const temporary = join(anchor, `.skein-${randomUUID()}.tmp`);
  const mode = before?.isFile() === true ? before.mode & 0o777 : 0o666;
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const handle = await open(temporary, flags, mode);
    try {
      await handle.writeFile(what.content, 'utf8');
      if (before?.isFile() === true) await handle.chmod(mode);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    if (what.expected !== undefined) checkUnchanged(await statOf(target), what.expected, what.shown);
    what.begins();
    renameSync(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return before !== undefined;
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function checkUnchanged(now: Unchanged | undefined, expected: Unchanged, shown: string): void {
  if (now?.ino === expected.ino && now.mtimeMs === expected.mtimeMs && now.size === expected.size) return;
  throw badInput(`${shown} was changed by something else meanwhile`, 'read it again, then edit it');
}

/** `write_file`: writes a whole text or nothing: it goes to a new file that then takes the name. Creates missing directories. */
export function writeFileCode(folders: Folders): Tool['execute'] {
  return async (input, { files }) => {
    const content = requiredText(input, 'content');
    const place = await folders.locateForWriting(requiredText(input, 'path'));
    const existed = await folders.inTurn(place, () => replaceFile(folders, place, content, { files }));
    return `${existed ? 'replaced' : 'created'} ${place.shown} (${Buffer.byteLength(content)} bytes)`;
  };
}
