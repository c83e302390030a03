import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SkeinError } from '../../base/errors.js';
import type { Position, Problem } from '../../base/problem.js';
import { didYouMean } from '../../base/suggest.js';
import type { SourceFile } from '../../plan/workflow.js';
import { problemsOf } from '../failures.js';
import { packageRoot } from '../own-package.js';
import { NeverSettled } from './import-module.js';
import { stripTypes } from './strip-types.js';

export interface ModuleFile {
  readonly path: string;
  /** The path as the user wrote it. */
  readonly shown: string;
  readonly cwd: string;
}

interface Place {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Longer messages are cut, because each is one line among others. */
const LONGEST_MESSAGE = 600;

/**
 * Returns why a module could not be loaded, with the place in the user's file and without a stack. Codes: `module-syntax`, `module-import`,
 * `module-throws`, `module-unsettled`, and those of a definition that refused its arguments.
 */
export async function problemsOfFailure(
  error: unknown,
  file: ModuleFile,
  filesOf: () => Promise<readonly SourceFile[]>,
): Promise<readonly Problem[]> {
  if (error instanceof NeverSettled) {
    return [
      problem('module-unsettled', `the module never ends loading: ${error.message}`, positionOf(undefined, file)),
    ];
  }
  const place = stackPlace(error);
  if (SkeinError.isInstance(error)) return ofDefinition(error, place, file);
  if (isMissing(error)) return [missingImport(error, file)];
  if (error instanceof SyntaxError) return [syntaxProblem(error, file, await filesOf())];
  return [problem('module-throws', `the module throws ${thrownText(error)}`, positionOf(place, file), THROWS)];
}

const THROWS = 'it is thrown when the file is loaded; nothing has run';

/** A problem of the whole file is reported at its first line. */
export function problem(code: string, message: string, at: Position, hint?: string): Problem {
  const text = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)} …` : message;
  return { code, severity: 'error', message: text, at, ...(hint === undefined ? {} : { hint }) };
}

/** A place as displayed. Without one, the beginning of the file to load. */
export function positionOf(place: Place | undefined, { path, shown, cwd }: ModuleFile): Position {
  if (place === undefined || place.path === path)
    return { file: shown, line: place?.line ?? 1, column: place?.column ?? 1 };
  const below = relative(cwd, place.path);
  const isInside = below !== '' && !isAbsolute(below) && below !== '..' && !below.startsWith(`..${sep}`);
  return { file: isInside ? below : place.path, line: place.line, column: place.column };
}

/** A refused call has a place; a problem of a whole graph has none. */
function ofDefinition(error: SkeinError, place: Place | undefined, file: ModuleFile): readonly Problem[] {
  const found = problemsOf(error);
  if (found.length === 0) return [problem(error.code, error.message, positionOf(place, file), error.hint)];
  if (place === undefined) return found.map((each) => inFile(each, file));
  return found.map(({ at: _at, ...rest }) => ({ ...rest, at: positionOf(place, file) }));
}

/** A problem of a definition in code, which has no line: the path names the part it is about. */
export function inFile({ at, path, ...rest }: Problem, { shown }: ModuleFile): Problem {
  // Errors carry their problems as JSON, in which an absent place is null.
  if (at !== undefined && (at as unknown) !== null) return { ...rest, at, ...(path === undefined ? {} : { path }) };
  return { ...rest, path: path === undefined ? shown : `${shown}: ${path}` };
}

function thrownText(error: unknown): string {
  if (error instanceof Error) return `${error.name}: ${error.message}`;
  return JSON.stringify(error) ?? String(error);
}

const FRAME = /(?:\(|at (?:async )?|^)((?:file:\/\/)?\/[^()\n]*?):(\d+)(?::(\d+))?\)?$/gm;

/** The innermost call in a user's file. */
function stackPlace(error: unknown): Place | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined;
  for (const [, file = '', line, column] of error.stack.matchAll(FRAME)) {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    if (path.includes(`${sep}node_modules${sep}`) || path.startsWith(OURS)) continue;
    return sourcePlace({ path, line: Number(line), column: Number(column ?? 1) });
  }
  return undefined;
}

/** The place in the original text: constructs that are more than types were rewritten. */
function sourcePlace(place: Place): Place {
  const text = /\.m?ts$/.test(place.path) ? textOf(place.path) : undefined;
  const stripped = text === undefined ? undefined : stripTypes(text);
  if (stripped?.ok !== true || stripped.map === undefined) return place;
  const entry = new SourceMap(JSON.parse(stripped.map) as SourceMapPayload).findEntry(place.line - 1, place.column - 1);
  if (!('originalLine' in entry)) return place;
  return { path: place.path, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

/** The folder of the compiled program. */
const OURS = fileURLToPath(new URL('dist/', packageRoot()));

interface Missing extends Error {
  readonly code: string;
}

const MISSING: ReadonlySet<unknown> = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_INVALID_MODULE_SPECIFIER',
]);

function isMissing(error: unknown): error is Missing {
  return error instanceof Error && 'code' in error && MISSING.has(error.code);
}

function missingImport(error: Missing, file: ModuleFile): Problem {
  const [message = ''] = error.message.split('\n');
  const [, what = '', from = file.path] = /'([^']+)'.* imported from (.+?)$/.exec(message) ?? [];
  const importer = from.startsWith('file:') ? fileURLToPath(from) : from;
  const name = isAbsolute(what) ? undefined : what;
  const hint =
    name === undefined || !message.startsWith('Cannot find package') ? undefined : `npm install ${packageOf(name)}`;
  return problem(
    'module-import',
    message.replace(/ imported from .*$/, ''),
    positionOf(importPlace(importer, what), file),
    hint,
  );
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The place where a file names an import in quotes: a package by its name, a file by its relative path. */
function importPlace(path: string, what: string): Place | undefined {
  const text = textOf(path);
  if (text === undefined) return undefined;
  for (const match of text.matchAll(/(["'])([^"'\n]+)\1/g)) {
    const [, , name = ''] = match;
    const isMeant = isAbsolute(what)
      ? /^\.{0,2}\//.test(name) && resolve(dirname(path), name) === what
      : name === what || name.startsWith(`${what}/`);
    if (!isMeant) continue;
    const before = text.slice(0, match.index).split('\n');
    return { path, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
  return { path, line: 1, column: 1 };
}

/** The loader reports invalid TypeScript. For JavaScript, Node reports missing exports; parsing finds the rest. */
function syntaxProblem(
  error: SyntaxError & { readonly place?: Place },
  file: ModuleFile,
  files: readonly SourceFile[],
): Problem {
  const missing = missingExport(error, file, files);
  if (missing !== undefined) return missing;
  const place = error.place ?? stackPlace(error) ?? faultPlace(files);
  return problem('module-syntax', error.message, positionOf(place, file));
}

/** An import of a name that a module does not export: at the name, with the names that the module has. */
function missingExport(error: SyntaxError, file: ModuleFile, files: readonly SourceFile[]): Problem | undefined {
  const [, specifier = '', name = ''] =
    /module '(.+)' does not provide an export named '(.+)'/.exec(error.message) ?? [];
  if (name === '') return undefined;
  const importer = stackPlace(error)?.path ?? file.path;
  const place = importedName(importer, specifier, name) ?? stackPlace(error);
  const target = specifier.startsWith('.') ? resolve(dirname(importer), specifier) : undefined;
  const text = files.find(({ path }) => path === target)?.text ?? '';
  const known = [...text.matchAll(/^export (?:async )?(?:const|let|var|function\*?|class|enum) ([\w$]+)/gm)].map(
    ([, each = '']) => each,
  );
  const listed =
    known.length === 0
      ? `export it from ${specifier}, or import another name`
      : `it exports: ${known.slice(0, 20).join(', ')}`;
  return problem(
    'module-import',
    `${specifier} exports nothing called ${name}`,
    positionOf(place, file),
    didYouMean(name, known) ?? listed,
  );
}

/** The place of a name in the braces of an import. */
function importedName(path: string, specifier: string, name: string): Place | undefined {
  const text = textOf(path) ?? '';
  for (const match of text.matchAll(/\{([^{}]*)\}\s*from\s*(["'])([^"'\n]+)\2/g)) {
    const [, names = '', , from] = match;
    const at = [...names.matchAll(/[\w$]+/g)].find(([word]) => word === name)?.index;
    if (from !== specifier || at === undefined) continue;
    const before = text.slice(0, match.index + 1 + at).split('\n');
    return { path, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
  return undefined;
}

function faultPlace(files: readonly SourceFile[]): Place | undefined {
  for (const { path, text } of files) {
    const stripped = /\.m?[jt]s$/.test(path) ? stripTypes(text) : undefined;
    if (stripped?.ok === false) return { path, line: stripped.fault.line, column: stripped.fault.column };
  }
  return undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
