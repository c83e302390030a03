import { TOOL_LIMITS } from '../../plan/built-in-tools.js';
import type { Tool } from '../tool.js';
import { fileFilter, skipped, oneLine } from './glob.js';
import type { Folders, Place } from './paths.js';
import type { Provenance } from './provenance.js';
import { expressionMatcher, textMatcher, type LineMatcher } from './line-matcher.js';
import { headOf, readText } from './text.js';
import { badInput, flag, optionalText, requiredText, wholeNumber } from './tool-input.js';
import { MAX_ENTRIES, throwIfAborted, walk, type WalkedFile } from './walk.js';

const MAX_LINE = 400;
const { usual, most } = TOOL_LIMITS.matches;
/** Cost limit of one search: a second or two of most expressions, up to twenty of the worst. */
const MAX_COST = 200_000_000;
/** Cost between two turns of the event loop. */
const SLICE = 500_000;

/**
 * `grep`: lines that contain a text, or with `regex` match a regular expression, as `path:line: text`. Expressions run on a linear-time
 * matcher, never on the host's backtracking one, so no pattern and no file can block the process; a search that becomes too expensive ends
 * with a note. Leaves out binary files, `.git` and `node_modules`.
 */
export function grepCode(folders: Folders, provenance: Provenance, searchesAll: boolean): Tool['execute'] {
  return async (input, io) => {
    const pattern = requiredText(input, 'pattern');
    if (pattern === '') throw badInput('the pattern is empty');
    const glob = optionalText(input, 'glob');
    const ignoreCase = flag(input, 'ignore_case');
    const search: Search = {
      matcher: flag(input, 'regex') ? await expressionMatcher(pattern, ignoreCase) : textMatcher(pattern, ignoreCase),
      most: wholeNumber(input, 'max_results', { least: 1, most, fallback: usual }),
      signal: io.signal,
      searchesAll,
      found: [],
      notes: [],
      paused: 0,
    };
    const from = await folders.locate(optionalText(input, 'path') ?? '.');
    for await (const file of filesOf(folders, from, glob, search)) {
      const before = search.found.length;
      const goesOn = await searchFile(folders, file.place, search);
      if (search.found.length > before) io.files?.shows(file.place.shown, await provenance.isForeign(file.place));
      if (!goesOn) break;
    }
    if (search.matcher.gaveUp) search.notes.push('[a line was too long for this pattern and was left out]');
    if (search.found.length === 0) search.notes.unshift('[no match]');
    return [...search.found, ...search.notes].join('\n');
  };
}

interface Search {
  readonly matcher: LineMatcher;
  readonly most: number;
  readonly signal: AbortSignal;
  /** Whether to search `node_modules` too. */
  readonly searchesAll: boolean;
  readonly found: string[];
  readonly notes: string[];
  paused: number;
}

async function* filesOf(
  folders: Folders,
  from: Place,
  glob: string | undefined,
  search: Search,
): AsyncGenerator<WalkedFile> {
  const matches = glob === undefined ? () => true : await fileFilter(glob);
  if (await isFile(folders, from)) {
    yield { path: from.shown, place: from };
    return;
  }
  const tooMany = (): unknown =>
    search.notes.push(`[stopped after ${MAX_ENTRIES} entries; name a directory in "path"]`);
  const options = { signal: search.signal, skip: skipped(`${from.shown}/${glob ?? ''}`, search.searchesAll) };
  for await (const file of walk(folders, from, options, tooMany)) if (matches(file.path)) yield file;
}

async function isFile(folders: Folders, place: Place): Promise<boolean> {
  try {
    const handle = await folders.openFile(place);
    await handle.close();
    return true;
  } catch {
    return false;
  }
}

/** Returns false if the search is over. */
async function searchFile(folders: Folders, place: Place, search: Search): Promise<boolean> {
  const text = await textOf(folders, place);
  if (text === undefined) return true;
  let line = 0;
  for (const content of linesOf(text)) {
    line += 1;
    if (search.matcher.cost - search.paused > SLICE) await pause(search);
    if (search.matcher.cost > MAX_COST) {
      search.notes.push('[stopped: the search got too expensive; narrow "path" or simplify the pattern]');
      return false;
    }
    if (!search.matcher.test(content)) continue;
    if (search.found.length === search.most) {
      search.notes.push(`[more than ${search.most} matches; narrow the search]`);
      return false;
    }
    search.found.push(`${oneLine(place.shown)}:${line}: ${shorten(content)}`);
  }
  return true;
}

/** Returns undefined for missing, oversized and binary files, which a search skips. */
async function textOf(folders: Folders, place: Place): Promise<string | undefined> {
  try {
    const handle = await folders.openFile(place);
    try {
      return await readText(handle, place.shown);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

/** Yields lines without line ends, one at a time, so that a large file does not become a large list. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf('\n', from);
    const line = end < 0 ? text.slice(from) : text.slice(from, end);
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
    from = end < 0 ? text.length : end + 1;
  }
}

async function pause(search: Search): Promise<void> {
  search.paused = search.matcher.cost;
  await new Promise((resolve) => setImmediate(resolve));
  throwIfAborted(search.signal);
}

function shorten(line: string): string {
  return line.length <= MAX_LINE ? line : `${headOf(line, MAX_LINE)} [...]`;
}
