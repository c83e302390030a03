import type { Tool } from '../tool.js';
import { compileGlob } from './glob-pattern.js';
import type { Folders } from './paths.js';
import { optionalText, requiredText } from './tool-input.js';
import { MAX_ENTRIES, SKIPPED_DIRECTORIES, walk } from './walk.js';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { Provenance } from './provenance.js';

const MAX_RESULTS = 1_000;

/** `glob`: paths that match a pattern, sorted; without `.git` and `node_modules` unless named. Follows no symbolic links. */
export function globCode(folders: Folders, { isForeignName }: Provenance, searchesAll: boolean): Tool['execute'] {
  return async (input, io) => {
    const pattern = requiredText(input, 'pattern');
    const matches = await fileFilter(pattern);
    const from = await folders.locate(optionalText(input, 'path') ?? '.');
    const found: string[] = [];
    const notes: string[] = [];
    const tooMany = (): unknown => notes.push(`[stopped after ${MAX_ENTRIES} entries; name a directory in "path"]`);
    for await (const file of walk(folders, from, { signal: io.signal, skip: skipped(pattern, searchesAll) }, tooMany)) {
      if (!matches(file.path)) continue;
      if (found.length === MAX_RESULTS) {
        notes.push(`[more than ${MAX_RESULTS} files; narrow the pattern]`);
        break;
      }
      found.push(oneLine(file.place.shown));
      io.files?.shows(file.place.shown, await isForeignName(file.place));
    }
    if (found.length === 0) notes.unshift('[no file matches]');
    return [...found, ...notes].join('\n');
  };
}

/** Converts a glob to a filter of relative paths; without a slash it applies only to the file name. */
export function fileFilter(pattern: string): Promise<(path: string) => boolean> {
  return compileGlob(pattern.includes('/') ? pattern : `**/${pattern}`);
}

/** The directories that a search leaves out, except those that the pattern names; with `searchesAll` only `.git`. */
export function skipped(pattern: string, searchesAll: boolean): ReadonlySet<string> {
  const left = searchesAll ? ['.git'] : [...SKIPPED_DIRECTORIES];
  return new Set(left.filter((name) => !pattern.includes(name)));
}

const MAX_NAMES = 1_000;

/** `list_dir`: the names in a directory, sorted; directories end with `/`, symbolic links with `@`. */
export function listDirCode(folders: Folders, { isForeignName }: Provenance): Tool['execute'] {
  return async (input, { files }) => {
    const place = await folders.locate(optionalText(input, 'path') ?? '.');
    const entries = await folders.list(place);
    for (const { name } of entries) {
      const shown = place.shown === '.' ? name : join(place.shown, name);
      files?.shows(shown, await isForeignName({ real: join(place.real, name) }));
    }
    return show(entries);
  };
}

function show(entries: readonly Dirent[]): string {
  if (entries.length === 0) return '[the directory is empty]';
  const names = entries.map((entry) => `${oneLine(entry.name)}${suffix(entry)}`).toSorted();
  if (names.length <= MAX_NAMES) return names.join('\n');
  return `${names.slice(0, MAX_NAMES).join('\n')}\n[${names.length - MAX_NAMES} more entries; use glob]`;
}

function suffix(entry: Dirent): string {
  if (entry.isDirectory()) return '/';
  return entry.isSymbolicLink() ? '@' : '';
}

/** Quotes names that contain line breaks or terminal codes; a name must not look like several. */
export function oneLine(name: string): string {
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name;
}
