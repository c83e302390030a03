/** Rows `theirs: ours`, with several of ours separated by blanks. Empty if Skein has no equivalent. */
function rowsOf(rows: Readonly<Record<string, string>>, without = ''): ReadonlyMap<string, readonly string[]> {
  const nothing = words(without).map((name) => [name, []] as const);
  return new Map([...Object.entries(rows).map(([name, ours]) => [name, words(ours)] as const), ...nothing]);
}

function words(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '');
}

/** The tools of cagent by toolset, each with Skein's equivalents. Skein's own names are included. */
const TOOLSETS: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> = new Map([
  [
    'filesystem',
    rowsOf(
      {
        read_file: 'read_file',
        read_multiple_files: 'read_file',
        list_directory: 'list_dir',
        list_directory_with_sizes: 'list_dir',
        directory_tree: 'list_dir glob',
        search_files: 'glob',
        search_files_content: 'grep',
        write_file: 'write_file',
        edit_file: 'edit_file',
        list_dir: 'list_dir',
        glob: 'glob',
        grep: 'grep',
      },
      'create_directory remove_directory move_file get_file_info list_allowed_directories add_allowed_directory',
    ),
  ],
  [
    'shell',
    rowsOf({ shell: 'shell' }, 'run_background_job list_background_jobs view_background_job stop_background_job'),
  ],
  ['think', rowsOf({ think: 'think' })],
  [
    'todo',
    rowsOf({
      create_todo: 'create_todo',
      create_todos: 'create_todos',
      update_todo: 'update_todo',
      update_todos: 'update_todo',
      list_todos: 'list_todos',
    }),
  ],
  ['fetch', rowsOf({ fetch: 'fetch' })],
]);

/** Tools of toolsets that can't be limited. */
const WHOLE = rowsOf({
  add_memory: 'shared_memory_write write_memory',
  update_memory: 'shared_memory_write write_memory',
  delete_memory: 'shared_memory_write write_memory',
  get_memories: 'shared_memory_read read_memory',
  search_memories: 'shared_memory_read read_memory',
  user_prompt: 'ask_user',
});

const ARGUMENTS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  ['read_multiple_files', new Map([['paths', 'path']])],
  ['search_files_content', new Map([['query', 'pattern']])],
  ['fetch', new Map([['urls', 'url']])],
]);

/** Returns Skein's names for a tool of a toolset. Undefined if the toolset has no such tool. */
export function toolsOf(toolset: string, name: string): readonly string[] | undefined {
  return TOOLSETS.get(toolset)?.get(name);
}

/** Returns the names of a toolset's tools, without those that have no equivalent. */
export function toolNames(toolset: string): readonly string[] {
  return [...(TOOLSETS.get(toolset) ?? [])].flatMap(([name, tools]) => (tools.length === 0 ? [] : [name]));
}

export function allTools(toolset: string): readonly string[] {
  return [...new Set([...(TOOLSETS.get(toolset)?.values() ?? [])].flat())];
}

export interface ForeignTool {
  readonly name: string;
  readonly tools: readonly string[];
}

export const FOREIGN_TOOLS: readonly ForeignTool[] = [...TOOLSETS.values(), WHOLE].flatMap((toolset) =>
  [...toolset].map(([name, tools]) => ({ name, tools })),
);

/** Returns Skein's name for an argument of a cagent tool. `argumentOf('fetch', 'urls')` returns `'url'`. */
export function argumentOf(tool: string, argument: string): string {
  return ARGUMENTS.get(tool)?.get(argument) ?? argument;
}
