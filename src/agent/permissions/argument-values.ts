import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ownValue, type JsonObject } from '../../base/json.js';
import { BUILT_IN, type ArgumentKind, type BuiltInTool, type ToolArgument } from '../../plan/built-in-tools.js';
import { COMMAND_NAME } from '../../plan/permission-rule.js';
import { valueText } from '../../lang/value-text.js';
import { ownParameters } from '../tools/catalogue.js';
import { splitWords, namedFiles } from '../tools/words.js';
import { isEnvFile } from '../tools/compare-paths.js';

export interface Argument {
  readonly kind: ArgumentKind;
  /** The values of the argument, each as text; for a command its words. Empty if the call omits it. */
  readonly values: readonly string[];
}

/** Returns the value of an argument. `tool` is undefined for tools of servers, whose arguments have no known meaning. */
export function argumentOf(tool: BuiltInTool | undefined, name: string, given: JsonObject): Argument {
  if (tool === undefined) return { kind: 'plain', values: textsOf(ownValue(given, name)) };
  const input = ownParameters(tool, given);
  const known = BUILT_IN[tool].arguments;
  const commands = Object.entries(known).filter(([, { kind }]) => kind === 'command');
  if (commands.length > 0 && (name === COMMAND_NAME || known[name]?.kind === 'command')) {
    return { kind: 'command', values: wordsOf(commands, input) };
  }
  const argument: ToolArgument | undefined = Object.hasOwn(known, name) ? known[name] : undefined;
  return { kind: argument?.kind ?? 'plain', values: textsOf(ownValue(input, name) ?? argument?.absent) };
}

/** Splits a command as the tool itself does; empty for a command that the tool refuses to run. */
function wordsOf(commands: readonly (readonly [string, ToolArgument])[], input: JsonObject): readonly string[] {
  for (const [name, { schema }] of commands) {
    const value = ownValue(input, name);
    if (schema['type'] === 'array' && Array.isArray(value)) return value.map(valueText);
    if (schema['type'] === 'string' && typeof value === 'string') return split(value);
  }
  return [];
}

function split(command: string): readonly string[] {
  try {
    return splitWords(command);
  } catch {
    return [];
  }
}

function textsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.map(valueText) : [valueText(value)];
}

/** Names of the same file: relative to the working directory, and absolute. They are normalized, so `a/../b` becomes `b`. */
export function pathForms(path: string, cwd: string): readonly string[] {
  const whole = resolve(cwd, path);
  const inside = relative(cwd, whole);
  const absolute = slashes(whole);
  if (inside === '') return ['.', absolute];
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return [absolute];
  return [slashes(inside), `./${slashes(inside)}`, absolute];
}

/** Characters that need no escape in a path. */
const ESCAPED = /%(?:2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi;

/** Names of the same address: as given, as requested, and as servers may read it, without escapes and parameters in the path. */
export function addressForms(address: string): readonly string[] {
  if (!URL.canParse(address)) return [address];
  const url = new URL(address);
  const { href, pathname } = url;
  const decoded = pathname.replaceAll(ESCAPED, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  url.pathname = decoded.replaceAll(/;[^/]*/g, '').replaceAll(/[/\\]+/g, '/');
  url.hostname = url.hostname.replace(/\.$/, '');
  return [...new Set([address, href, url.href])];
}

function slashes(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

/** Whether a call of a built-in tool reads a file of secrets, as far as its arguments show. A person decides about such calls. */
export function readsEnvFile(tool: BuiltInTool, input: JsonObject): boolean {
  const shown = Object.entries(BUILT_IN[tool].arguments).filter(([, argument]) => argument.shows === true);
  return shown.some(([name]) => {
    const { kind, values } = argumentOf(tool, name, input);
    const files = kind === 'command' ? namedFiles(values).words : values;
    return files.some((file) => isEnvFile(file));
  });
}
