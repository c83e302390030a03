import { basename, relative, resolve, sep, isAbsolute } from 'node:path';
import { withoutAtEnd } from '../../base/text.js';

/**
 * A path as the most forgiving file system compares it, so that no spelling gets by: letters of one case, compatible forms as one,
 * without characters that can't be seen, without dots and spaces at the end of a name, and without what follows a colon.
 * `foldedPath('/project/.Git. /HEAD')` gives `'/project/.git/head'`.
 */
export function foldedPath(path: string): string {
  return path.split(sep).map(foldedName).join('/');
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** One name of a path, folded. See {@link foldedPath}. */
export function foldedName(name: string): string {
  if (name === '..') return name;
  // Most names are plain, and there are very many of them.
  if (/^[A-Za-z0-9_.-]*[A-Za-z0-9_-]$/.test(name)) return name.toLowerCase();
  const plain = name.normalize('NFKC').replace(INVISIBLE, '').toUpperCase().toLowerCase();
  const [whole = ''] = plain.split(':');
  const cut = withoutAtEnd(whole, '. ');
  // The short name under which Windows files it.
  return cut === 'git~1' ? '.git' : cut;
}

/** The names on the way from one folder to a path, folded. */
export function namesBelow(from: string, path: string): readonly string[] {
  return relative(from, path).split(sep).map(foldedName);
}

/** True for a path of a file that holds secrets of a project by custom: `.env`, `.env.local`, `.envrc`. */
export function isEnvFile(path: string): boolean {
  return foldedName(basename(resolve(sep, path))).startsWith('.env');
}

/** True when `path` is `root` or below it, compared by segments. Both must be absolute and normal. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
