import type { Json, JsonObject } from '../../base/json.js';
import { isPlainObject, ownValue } from '../../base/json.js';
import type { BuiltInTool } from '../../plan/tool-names.js';

type Names = Readonly<Record<string, string>>;

const PATH: Names = { file_path: 'path', filePath: 'path', notebook_path: 'path' };
const SEARCH: Names = {
  query: 'pattern',
  includePattern: 'glob',
  isRegexp: 'regex',
  '-i': 'ignore_case',
  maxResults: 'max_results',
};
const EDIT: Names = {
  old_string: 'old_text',
  oldString: 'old_text',
  old_str: 'old_text',
  new_string: 'new_text',
  newString: 'new_text',
  new_str: 'new_text',
  replaceAll: 'replace_all',
};

/** What Claude and Copilot call the parameters of the tools that these are for them. */
const NAMES: Readonly<Record<BuiltInTool, Names>> = {
  read_file: PATH,
  list_dir: {},
  glob: { query: 'pattern' },
  grep: SEARCH,
  write_file: { ...PATH, file_text: 'content' },
  edit_file: { ...PATH, ...EDIT },
  shell: { workdir: 'cwd' },
  fetch: {},
};

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
  const names = NAMES[tool];
  const entries = Object.entries(input)
    .filter(([key, value]) => !(REMARKS.has(key) && typeof value === 'string'))
    .map(([key, value]): [string, Json] => {
      const own = ownValue(names, key);
      const name = typeof own === 'string' && !Object.hasOwn(input, own) ? own : key;
      return [name, name === 'edits' && Array.isArray(value) ? (value as readonly Json[]).map(ofEdit) : value];
    });
  return Object.fromEntries(entries);
}

function ofEdit(edit: Json): Json {
  return isPlainObject(edit) ? ownParameters('edit_file', edit) : edit;
}
