import type { JsonObject } from '../../base/json.js';
import { isEnvFile } from '../tools/folded-path.js';
import { namedFiles } from '../tools/named-files.js';
import type { BuiltInTool } from '../../plan/tool-names.js';
import { argumentOf } from './argument-values.js';

/** The argument by which a tool names what it reads. */
const READ_BY: Readonly<Partial<Record<BuiltInTool, string>>> = {
  read_file: 'path',
  grep: 'path',
  // An edit tells whether a text is there.
  edit_file: 'path',
  shell: 'cmd',
};

/**
 * Whether a call of a built-in tool reads a file of secrets, as far as the call itself shows it. Such calls are put to a person.
 *
 * @example
 * readsEnvFile('read_file', { path: 'server/.env.local' }); // true
 */
export function readsEnvFile(tool: BuiltInTool, input: JsonObject): boolean {
  const argument = READ_BY[tool];
  if (argument === undefined) return false;
  const { kind, values } = argumentOf(tool, argument, input);
  const files = kind === 'command' ? namedFiles(values).words : values;
  return files.some((file) => isEnvFile(file));
}
