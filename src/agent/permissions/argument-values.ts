import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { JsonObject } from '../../base/json.js';
import { ownValue } from '../../base/json.js';
import type { BuiltInTool } from '../../plan/tool-names.js';
import { ownParameters } from '../tools/parameter-names.js';
import { splitWords } from '../tools/words.js';

/** Arguments that are paths, and what they are when a call leaves them out. */
const PATHS: ReadonlyMap<string, string | undefined> = new Map([
  ['read_file.path', undefined],
  ['list_dir.path', '.'],
  ['glob.path', '.'],
  ['grep.path', '.'],
  ['write_file.path', undefined],
  ['edit_file.path', undefined],
  ['shell.cwd', '.'],
]);

/** The command line of `shell`, under all its names. */
const COMMAND = new Set(['cmd', 'command', 'argv']);

/** An argument of a call, as rules see it. */
export interface Argument {
  readonly kind: 'command' | 'path' | 'address' | 'plain';
  /** What the call gives, each value as text; of a command its words. None: the call leaves it out. */
  readonly values: readonly string[];
}

/**
 * The value of an argument. `tool` is the built-in tool that is called; for tools of servers it is absent, and nothing is known about
 * what their arguments mean.
 *
 * @example
 * argumentOf('shell', 'cmd', { command: 'rm  -rf x' }); // { kind: 'command', values: ['rm', '-rf', 'x'] }
 */
export function argumentOf(tool: BuiltInTool | undefined, name: string, given: JsonObject): Argument {
  const input = tool === undefined ? given : ownParameters(tool, given);
  if (tool === 'shell' && COMMAND.has(name)) return { kind: 'command', values: wordsOf(input) };
  const key = `${tool ?? ''}.${name}`;
  const value = ownValue(input, name) ?? PATHS.get(key);
  const kind = PATHS.has(key) ? 'path' : key === 'fetch.url' ? 'address' : 'plain';
  if (value === undefined || value === null) return { kind, values: [] };
  return { kind, values: Array.isArray(value) ? value.map(textOf) : [textOf(value)] };
}

/** As the tool itself reads it; nothing for what the tool refuses to run. */
function wordsOf(input: JsonObject): readonly string[] {
  const argv = ownValue(input, 'argv') ?? undefined;
  const command = ownValue(input, 'command') ?? undefined;
  if (Array.isArray(argv)) return argv.map(textOf);
  if (typeof command !== 'string') return [];
  try {
    return splitWords(command);
  } catch {
    return [];
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/**
 * Names of the same file: relative to the working directory, and absolute. They are normal, so `a/../b` is `b`.
 *
 * @example
 * pathForms('./src/../.env', '/project'); // ['.env', './.env', '/project/.env']
 */
export function pathForms(path: string, cwd: string): readonly string[] {
  const whole = resolve(cwd, path);
  const inside = relative(cwd, whole);
  const absolute = slashes(whole);
  if (inside === '') return ['.', absolute];
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return [absolute];
  return [slashes(inside), `./${slashes(inside)}`, absolute];
}

function slashes(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
