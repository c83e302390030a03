/** A rule of `Permissions`, taken apart: `shell:cmd=rm *` is the tool `shell` with the argument `cmd`. */
export interface PermissionRule {
  /** As it was written. */
  readonly text: string;
  /** Pattern of the tool's name. */
  readonly tool: string;
  /** All must match. */
  readonly args: readonly { readonly name: string; readonly pattern: string }[];
}

const LONGEST = 1_000;
const ARGUMENT = /:([A-Za-z_][A-Za-z0-9_-]*)=/g;

/**
 * Arguments of the built-in tools that rules may name. The command line of `shell` has three names: `cmd` of other systems, and the two
 * ways in which a model gives it.
 */
export const TOOL_ARGUMENTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['read_file', ['path', 'offset', 'limit']],
  ['list_dir', ['path']],
  ['glob', ['pattern', 'path']],
  ['grep', ['pattern', 'path', 'glob', 'regex', 'ignore_case', 'max_results']],
  ['write_file', ['path', 'content']],
  ['edit_file', ['path', 'old_text', 'new_text', 'replace_all', 'edits']],
  ['shell', ['cmd', 'argv', 'command', 'cwd', 'timeout_seconds']],
  ['fetch', ['url', 'method', 'body', 'content_type', 'raw']],
  ['think', ['thought']],
  ['create_todo', ['description']],
  ['create_todos', ['descriptions']],
  ['update_todo', ['id', 'status']],
  ['list_todos', []],
]);

/**
 * Reads a rule: `TOOL`, or `TOOL:ARG=PATTERN` with further `:ARG=PATTERN`. Gives what is wrong with it as text.
 *
 * @example
 * parsePermissionRule('shell:cmd=rm *'); // { text: 'shell:cmd=rm *', tool: 'shell', args: [{ name: 'cmd', pattern: 'rm *' }] }
 */
export function parsePermissionRule(written: string): PermissionRule | string {
  const text = written.trim();
  if (text === '') return 'it is empty';
  if (text.length > LONGEST) return `it is longer than ${LONGEST} characters`;
  if (/[[\]]/.test(text)) return 'sets of characters in brackets are not supported, only * and ?';
  const starts = [...text.matchAll(ARGUMENT)];
  const tool = text.slice(0, starts[0]?.index ?? text.length).trim();
  const args = starts.map((start, i) => ({
    name: start[1] ?? '',
    pattern: text.slice(start.index + start[0].length, starts[i + 1]?.index ?? text.length).trim(),
  }));
  const empty = args.find((arg) => arg.pattern === '');
  if (empty !== undefined) return `${empty.name}= has no pattern`;
  if (!/^(?:mcp:[^:\s=]+(?::[^:\s=]+)?|[^:\s=]+)$/.test(tool)) return `${JSON.stringify(tool)} is no name of a tool`;
  return { text, tool, args };
}
