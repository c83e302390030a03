import { lazily } from '../../base/collections.js';
import { basename, relative, resolve, sep } from 'node:path';
import { withoutAtEnd } from '../../base/text.js';

/**
 * Returns a path as the most lenient file system compares it, so that no spelling gets past a check: one case, compatible forms unified,
 * without invisible characters, without dots and spaces at the end of a name, and without what follows a colon.
 * `foldedPath('/project/.Git. /HEAD')` gives `'/project/.git/head'`.
 */
export function foldedPath(path: string): string {
  return path.split(sep).map(foldedName).join('/');
}

const INVISIBLE = lazily(() => /\p{Default_Ignorable_Code_Point}/gu);

/** One name of a path, folded. See {@link foldedPath}. */
export function foldedName(name: string): string {
  if (name === '..') return name;
  // Fast path: most names are plain, and there are very many.
  if (/^[A-Za-z0-9_.-]*[A-Za-z0-9_-]$/.test(name)) return name.toLowerCase();
  const plain = name.normalize('NFKC').replace(INVISIBLE(), '').toUpperCase().toLowerCase();
  const [whole = ''] = plain.split(':');
  const cut = withoutAtEnd(whole, '. ');
  // The short name of the folder on Windows.
  return cut === 'git~1' ? '.git' : cut;
}

/** The names along the path from a folder to a path inside it, folded. */
export function namesBelow(from: string, path: string): readonly string[] {
  return relative(from, path).split(sep).map(foldedName);
}

/** True for the path of a file that holds a project's secrets by convention: `.env`, `.env.local`, `.envrc`. */
export function isEnvFile(path: string): boolean {
  return foldedName(basename(resolve(sep, path))).startsWith('.env');
}
