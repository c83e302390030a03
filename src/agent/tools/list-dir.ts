import type { Dirent } from 'node:fs';
import type { Tool } from '../tool.js';
import type { Folders } from './paths.js';
import { optionalText } from './tool-input.js';

const MAX_ENTRIES = 1_000;

/** `list_dir`: the names in a directory, sorted; directories end with `/`, symbolic links with `@`. */
export function listDirCode(folders: Folders): Tool['execute'] {
  return async (input) => {
    const place = await folders.locate(optionalText(input, 'path') ?? '.');
    return show(await folders.list(place));
  };
}

function show(entries: readonly Dirent[]): string {
  if (entries.length === 0) return '[the directory is empty]';
  const names = entries.map((entry) => `${oneLine(entry.name)}${suffix(entry)}`).toSorted();
  if (names.length <= MAX_ENTRIES) return names.join('\n');
  return `${names.slice(0, MAX_ENTRIES).join('\n')}\n[${names.length - MAX_ENTRIES} more entries; use glob]`;
}

function suffix(entry: Dirent): string {
  if (entry.isDirectory()) return '/';
  return entry.isSymbolicLink() ? '@' : '';
}

/** File names may hold line breaks and terminal codes; a name must not look like several. */
export function oneLine(name: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name;
}
