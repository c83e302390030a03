import type { JsonObject } from '../base/json.js';

/**
 * How rules and checks treat an argument. A `path` and an `address` are compared in their normal form, a `command` by its words; a tool
 * with an address reaches the network, one with a command starts a process.
 */
export type ArgumentKind = 'path' | 'address' | 'command' | 'plain';

export interface ToolArgument {
  readonly kind: ArgumentKind;
  /** JSON Schema of its value, or the part of it that `each` does not cover. */
  readonly schema: JsonObject;
  /** For a list of objects: the arguments of each object. */
  readonly each?: ToolInput;
  /** The meaning of a call without it. */
  readonly absent?: string;
  /** Whether a call may show the content of the files that it names. */
  readonly shows?: true;
  /** Names of the argument in other systems. */
  readonly also?: readonly string[];
}

export interface ToolInput {
  readonly arguments: Readonly<Record<string, ToolArgument>>;
  readonly required: readonly string[];
}

/** A built-in tool apart from its code. Its names, permission rules, powers and stand-ins are all derived from this. */
export interface ToolDescriptor extends ToolInput {
  readonly description: string;
  /** As in the agents' `Tool`. */
  readonly effect: 'read' | 'idempotent' | 'once';
  readonly trust: 'trusted' | 'untrusted';
  /** Whether agents without a list of tools have it. */
  readonly always: boolean;
  /** Names of exactly this tool in other systems; the model sees the name that the agent's file uses. */
  readonly aliases: readonly string[];
  /** Names that stand for this tool alone or with others; the model sees the tool's own name. */
  readonly headings: readonly string[];
}

/** Limits that a tool keeps and reports to the model. */
export const TOOL_LIMITS = {
  readLines: 2_000,
  /** Lines that `grep` returns. */
  matches: { usual: 100, most: 500 },
  /** Run time of a program, in seconds. */
  seconds: { usual: 120, most: 600 },
} as const;

const FILE_PATH = ['file_path', 'filePath', 'notebook_path'];

const EDIT = {
  old_text: {
    kind: 'plain',
    schema: { type: 'string', description: 'The text to replace, exactly as it stands in the file.' },
    also: ['old_string', 'oldString', 'old_str'],
  },
  new_text: {
    kind: 'plain',
    schema: { type: 'string', description: 'The text to put there.' },
    also: ['new_string', 'newString', 'new_str'],
  },
  replace_all: {
    kind: 'plain',
    schema: { type: 'boolean', description: 'Replace every occurrence; otherwise there must be exactly one.' },
    also: ['replaceAll'],
  },
} as const satisfies ToolInput['arguments'];

/** The built-in tools, in the order in which a model sees them. */
const DESCRIPTORS = {
  read_file: {
    description:
      'Reads a text file inside the working directory. Long files are cut; ask for the rest with offset and limit.',
    arguments: {
      path: file('Path of the file, relative to the working directory.', { shows: true }),
      offset: plain({ type: 'integer', minimum: 1, description: 'First line to read, from 1.' }),
      limit: plain({
        type: 'integer',
        minimum: 1,
        description: `Number of lines, at most ${TOOL_LIMITS.readLines}.`,
      }),
    },
    required: ['path'],
    effect: 'read',
    trust: 'untrusted',
    always: true,
    aliases: ['view', 'Read'],
    // There is no index here: an agent that may search the code base by meaning may search its text.
    headings: ['read', 'read/readFile', 'read/file', 'readFile', 'codebase', 'search/codebase'],
  },
  list_dir: {
    description: 'Lists a directory inside the working directory. Directories end with "/", symbolic links with "@".',
    arguments: { path: folder('Path of the directory; the working directory when absent.') },
    required: [],
    effect: 'read',
    trust: 'untrusted',
    always: true,
    aliases: ['LS'],
    headings: ['read', 'listDirectory', 'search/listDirectory', 'codebase', 'search/codebase'],
  },
  glob: {
    description:
      'Finds files by a glob pattern such as "src/**/*.{ts,tsx}". A pattern without a slash is looked for at any depth.',
    arguments: {
      pattern: plain({ type: 'string', description: 'The glob pattern.' }, ['query']),
      path: folder('Directory to search in; the working directory when absent.'),
    },
    required: ['pattern'],
    effect: 'read',
    trust: 'untrusted',
    always: true,
    aliases: ['Glob', 'file_search'],
    headings: ['search', 'fileSearch', 'search/fileSearch', 'codebase', 'search/codebase'],
  },
  grep: {
    description:
      'Searches files for a text and returns the lines as "path:line: text". With regex: true the pattern is a regular ' +
      'expression (no look-around, no back references).',
    arguments: {
      pattern: plain(
        { type: 'string', description: 'The text or regular expression to search for, within one line.' },
        ['query'],
      ),
      path: folder('File or directory to search in; the working directory when absent.', { shows: true }),
      glob: plain({ type: 'string', description: 'Only files that match this glob pattern, such as "*.ts".' }, [
        'includePattern',
      ]),
      regex: plain({ type: 'boolean', description: 'The pattern is a regular expression.' }, ['isRegexp']),
      ignore_case: plain({ type: 'boolean', description: 'Upper and lower case are the same.' }, ['-i']),
      max_results: plain(
        {
          type: 'integer',
          minimum: 1,
          description: `Lines at most, up to ${TOOL_LIMITS.matches.most}. Default ${TOOL_LIMITS.matches.usual}.`,
        },
        ['maxResults'],
      ),
    },
    required: ['pattern'],
    effect: 'read',
    trust: 'untrusted',
    always: true,
    aliases: ['Grep', 'grep_search'],
    headings: ['search', 'textSearch', 'search/textSearch', 'codebase', 'search/codebase'],
  },
  write_file: {
    description:
      'Writes a text file inside the working directory. An existing file is replaced; missing directories are made.',
    arguments: {
      path: file('Path of the file, relative to the working directory.'),
      content: plain({ type: 'string', description: 'The whole text of the file.' }, ['file_text']),
    },
    required: ['path', 'content'],
    effect: 'idempotent',
    trust: 'trusted',
    always: false,
    aliases: ['create', 'create_file', 'Write'],
    headings: ['edit', 'edit/editFiles', 'editFiles', 'createFile', 'edit/createFile'],
  },
  edit_file: {
    description:
      'Replaces exact text in a file: either old_text and new_text, or a list of edits that are applied in order, all or none.',
    arguments: {
      // An edit reveals whether a text is present.
      path: file('Path of the file, relative to the working directory.', { shows: true }),
      ...EDIT,
      edits: {
        ...plain({ type: 'array', minItems: 1, maxItems: 100 }),
        each: { arguments: EDIT, required: ['old_text', 'new_text'] },
      },
    },
    required: ['path'],
    effect: 'once',
    trust: 'trusted',
    always: false,
    aliases: [
      'Edit',
      'MultiEdit',
      'str_replace',
      'str_replace_editor',
      'replace_string_in_file',
      'multi_replace_string_in_file',
      'insert_edit_into_file',
    ],
    headings: ['edit', 'edit/editFiles', 'editFiles'],
  },
  shell: {
    description:
      'Runs one program and returns its exit code and output. Give "argv", the program and its arguments as a list. There is no ' +
      'shell: no pipes, redirections, variables or patterns. Nothing may keep running after the program has ended.',
    arguments: {
      argv: {
        kind: 'command',
        schema: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description: 'Program and arguments, such as ["git", "diff", "--stat"].',
        },
        shows: true,
      },
      command: {
        kind: 'command',
        schema: { type: 'string', description: 'The same as one line; it is split into words and nothing else.' },
        shows: true,
      },
      cwd: { ...folder('Directory to run in; the working directory when absent.'), also: ['workdir'] },
      timeout_seconds: plain({
        type: 'integer',
        minimum: 1,
        description: `Default ${TOOL_LIMITS.seconds.usual}, at most ${TOOL_LIMITS.seconds.most}.`,
      }),
    },
    required: [],
    effect: 'once',
    trust: 'untrusted',
    always: false,
    aliases: ['bash', 'Bash', 'powershell', 'run_in_terminal'],
    headings: [
      'execute',
      'execute/runInTerminal',
      'runInTerminal',
      'runCommands',
      'runCommands/runInTerminal',
      'terminalCommand',
    ],
  },
  fetch: {
    description: 'Fetches a text from a public http or https address. Web pages come back as plain text.',
    arguments: {
      url: { kind: 'address', schema: { type: 'string', description: 'The address.' } },
      method: plain({ type: 'string', enum: ['GET', 'POST'], description: 'Default GET.' }),
      body: plain({ type: 'string', description: 'Text to send with POST.' }),
      content_type: plain({ type: 'string', description: 'Type of the body. Default application/json.' }),
      raw: plain({ type: 'boolean', description: 'Return HTML as it is.' }),
    },
    required: ['url'],
    effect: 'idempotent',
    trust: 'untrusted',
    always: false,
    aliases: ['WebFetch', 'web_fetch', 'fetch_webpage'],
    headings: ['web', 'web/fetch'],
  },
} as const satisfies Readonly<Record<string, ToolDescriptor>>;

export type BuiltInTool = keyof typeof DESCRIPTORS;

export const BUILT_IN: Readonly<Record<BuiltInTool, ToolDescriptor>> = DESCRIPTORS;

/** The names of the built-in tools, in the order in which a model sees them. */
export const BUILT_IN_TOOLS: readonly BuiltInTool[] = Object.keys(BUILT_IN) as BuiltInTool[];

/** The tools of an agent without a list, apart from those of MCP servers. */
export const READ_ONLY_TOOLS: readonly BuiltInTool[] = BUILT_IN_TOOLS.filter((tool) => BUILT_IN[tool].always);

export function takes(tool: BuiltInTool, kind: ArgumentKind): boolean {
  return Object.values(BUILT_IN[tool].arguments).some((argument) => argument.kind === kind);
}

export function inputSchemaOf({ arguments: all, required }: ToolInput): JsonObject {
  const properties = Object.entries(all).map(([name, { schema, each }]): [string, JsonObject] => [
    name,
    each === undefined ? schema : { ...schema, items: inputSchemaOf(each) },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function plain(schema: JsonObject, also: readonly string[] = []): ToolArgument {
  return { kind: 'plain', schema, also };
}

function file(description: string, more: Pick<ToolArgument, 'shows'> = {}): ToolArgument {
  return { kind: 'path', schema: { type: 'string', description }, also: FILE_PATH, ...more };
}

function folder(description: string, more: Pick<ToolArgument, 'shows'> = {}): ToolArgument {
  return { kind: 'path', schema: { type: 'string', description }, absent: '.', ...more };
}
