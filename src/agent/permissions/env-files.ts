import type { JsonObject } from '../../base/json.js';
import type { BuiltInTool } from '../../plan/built-in-tools.js';
import { BUILT_IN } from '../../plan/built-in-tools.js';
import { isEnvFile } from '../tools/folded-path.js';
import { namedFiles } from '../tools/named-files.js';
import { argumentOf } from './argument-values.js';

/**
 * Whether a call of a built-in tool reads a file of secrets, as far as the call itself shows it. Such calls are put to a person.
 *
 * @example
 * readsEnvFile('read_file', { path: 'server/.env.local' }); // true
 */
export function readsEnvFile(tool: BuiltInTool, input: JsonObject): boolean {
  const shown = Object.entries(BUILT_IN[tool].arguments).filter(([, argument]) => argument.shows === true);
  return shown.some(([name]) => {
    const { kind, values } = argumentOf(tool, name, input);
    const files = kind === 'command' ? namedFiles(values).words : values;
    return files.some((file) => isEnvFile(file));
  });
}
