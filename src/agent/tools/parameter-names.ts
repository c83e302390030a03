import type { Json, JsonObject } from '../../base/json.js';
import { isPlainObject } from '../../base/json.js';
import type { BuiltInTool, ToolInput } from '../../plan/built-in-tools.js';
import { BUILT_IN } from '../../plan/built-in-tools.js';

/** What models of those systems say about a call besides, for people. */
const REMARKS: ReadonlySet<string> = new Set(['description', 'explanation']);

/**
 * The input of a built-in tool with its parameters as the tool calls them. A name that is given twice stays, so that the check of the
 * input refuses it.
 *
 * @example
 * ownParameters('edit_file', { file_path: 'a.ts', old_string: 'x', new_string: 'y' }); // { path: 'a.ts', old_text: 'x', new_text: 'y' }
 */
export function ownParameters(tool: BuiltInTool, input: JsonObject): JsonObject {
  return renamed(BUILT_IN[tool], input);
}

function renamed(known: ToolInput, input: JsonObject): JsonObject {
  const names = new Map(
    Object.entries(known.arguments).flatMap(([own, { also = [] }]) => also.map((name) => [name, own])),
  );
  const entries = Object.entries(input)
    .filter(([key, value]) => typeof value !== 'string' || !REMARKS.has(key) || Object.hasOwn(known.arguments, key))
    .map(([key, value]): [string, Json] => {
      const own = names.get(key);
      const name = own !== undefined && !Object.hasOwn(input, own) ? own : key;
      const each = Object.hasOwn(known.arguments, name) ? known.arguments[name]?.each : undefined;
      return [name, each !== undefined && Array.isArray(value) ? value.map((one: Json) => inner(each, one)) : value];
    });
  return Object.fromEntries(entries);
}

function inner(known: ToolInput, value: Json): Json {
  return isPlainObject(value) ? renamed(known, value) : value;
}
