import { SkeinError } from '../base/errors.js';
import { lazily, madeOnce } from '../base/collections.js';
import { didYouMean } from '../base/suggest.js';
import { BUILT_IN, BUILT_IN_TOOLS, READ_ONLY_TOOLS, type BuiltInTool } from './built-in-tools.js';

/** Names of single tools. The model sees the tool under the name that the agent's file uses. */
const toolNames = lazily(
  (): ReadonlyMap<string, BuiltInTool> =>
    new Map(BUILT_IN_TOOLS.flatMap((tool) => [tool, ...BUILT_IN[tool].aliases].map((name) => [name, tool] as const))),
);

/** Names that stand for several tools, or for one under a heading. The model sees the built-in names. */
const headings = lazily(
  (): ReadonlyMap<string, readonly BuiltInTool[]> =>
    new Map(
      BUILT_IN_TOOLS.flatMap((tool) => BUILT_IN[tool].headings).map((name) => [
        name,
        BUILT_IN_TOOLS.filter((tool) => BUILT_IN[tool].headings.includes(name)),
      ]),
    ),
);

/** Tools that the agent loop adds, so that naming them is valid. Rules may name the arguments of those that have a list here. */
export const STEP_TOOLS: ReadonlyMap<string, readonly string[] | undefined> = new Map([
  ['ask_user', undefined],
  ['shared_memory_read', undefined],
  ['shared_memory_write', undefined],
  ['read_memory', undefined],
  ['write_memory', undefined],
  ['think', ['thought']],
  ['todo', undefined],
  ['create_todo', ['description']],
  ['create_todos', ['descriptions']],
  ['update_todo', ['id', 'status']],
  ['list_todos', []],
]);

export function builtInOf(name: string): BuiltInTool | undefined {
  return toolNames().get(name);
}

export interface ToolSelection {
  /** Name that the model sees -> built-in tool, in the order of {@link BUILT_IN_TOOLS}. */
  readonly builtIn: ReadonlyMap<string, BuiltInTool>;
  /** Servers whose tools may be used, and which tools; other servers need not be started. */
  readonly servers: ReadonlyMap<string, ServerTools>;
  readonly unknown: readonly string[];
}

/** All tools of a server, or the matching ones: `raw` are the server's names, `full` whole names `mcp_SERVER_TOOL`. */
export type ServerTools = 'all' | { readonly raw: ReadonlySet<string>; readonly full: ReadonlySet<string> };

/**
 * What an agent's list of tools means. Absent: the read-only built-in tools and all tools of the agent's servers; empty: none;
 * otherwise an allow-list of built-in names, aliases, sets, `SERVER`, `SERVER/*`, `SERVER/TOOL`, `mcp_SERVER_TOOL`, `*`.
 * `selectTools(['search', 'opik/*', 'bash'], ['opik']).builtIn` gives `Map { 'glob' => 'glob', 'grep' => 'grep', 'bash' => 'shell' }`.
 * @param tools the list of the agent
 * @param servers names of its MCP servers
 */
export function selectTools(tools: readonly string[] | undefined, servers: readonly string[]): ToolSelection {
  if (tools?.length === 0) return NOTHING;
  const choice = new Choice(servers);
  if (tools === undefined) {
    for (const name of READ_ONLY_TOOLS) choice.byName.set(name, name);
    choice.allServers();
  } else {
    for (const name of tools) choice.add(name.trim());
  }
  return choice.result();
}

/**
 * Resolves an agent's list of tools that need approval, by the same names as its list of tools.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for an unknown name: a call that needs approval must not slip through.
 */
export function selectApproved(names: readonly string[], servers: readonly string[], agent: string): ToolSelection {
  const selection = selectTools(names, servers);
  const [unknown] = selection.unknown;
  if (unknown === undefined) return selection;
  const known = [...BUILT_IN_TOOLS, ...STEP_TOOLS.keys(), ...toolNames().keys(), ...headings().keys(), ...servers];
  const nearest = didYouMean(unknown, known);
  throw new SkeinError('SKEIN_DEFINITION', `agent ${agent}: approve names "${unknown}", which is not a tool`, {
    hint: nearest ?? 'name a built-in tool, SERVER/TOOL of one of its MCP servers, SERVER/* or *',
  });
}

const NOTHING: ToolSelection = { builtIn: new Map(), servers: new Map(), unknown: [] };

class Choice {
  /** Tools under a file's name for exactly that tool. */
  readonly byName = new Map<string, BuiltInTool>();
  private readonly bySet = new Set<BuiltInTool>();
  private readonly servers = new Map<string, 'all' | { raw: Set<string>; full: Set<string> }>();
  private readonly unknown: string[] = [];

  constructor(private readonly known: readonly string[]) {}

  add(name: string): void {
    if (name === '' || STEP_TOOLS.has(name)) return;
    if (name === '*') {
      for (const tool of BUILT_IN_TOOLS) this.bySet.add(tool);
      this.allServers();
      return;
    }
    const alias = toolNames().get(name);
    const set = headings().get(name);
    // An agent's server takes precedence over a heading of the same name: the file refers to its own server.
    if (this.addServerTool(name)) return;
    if (alias !== undefined) this.byName.set(name, alias);
    else if (set !== undefined) for (const tool of set) this.bySet.add(tool);
    else this.unknown.push(name);
  }

  allServers(): void {
    for (const server of this.known) this.servers.set(server, 'all');
  }

  result(): ToolSelection {
    const named = new Set(this.byName.values());
    for (const tool of this.bySet) if (!named.has(tool)) this.byName.set(tool, tool);
    const builtIn = new Map(
      [...this.byName].toSorted((a, b) => BUILT_IN_TOOLS.indexOf(a[1]) - BUILT_IN_TOOLS.indexOf(b[1])),
    );
    return { builtIn, servers: this.servers, unknown: this.unknown };
  }

  private addServerTool(name: string): boolean {
    let found = false;
    for (const server of this.known) {
      if (name === server || name === `${server}/*` || name === `mcp__${server}`) {
        this.servers.set(server, 'all');
        found = true;
      } else if (name.startsWith(`${server}/`)) {
        this.some(server)?.raw.add(name.slice(server.length + 1));
        found = true;
      } else if (name.startsWith(`mcp__${server}__`)) {
        this.some(server)?.raw.add(name.slice(server.length + 7));
        found = true;
      } else if (name.startsWith(mcpPrefix(server))) {
        this.some(server)?.full.add(name);
        found = true;
      }
    }
    return found;
  }

  private some(server: string): { raw: Set<string>; full: Set<string> } | undefined {
    const now = madeOnce(this.servers, server, () => ({ raw: new Set<string>(), full: new Set<string>() }));
    return now === 'all' ? undefined : now;
  }
}

export function mcpPrefix(server: string): string {
  return `mcp_${legalName(server)}_`;
}

/** Replaces characters that a tool name may not contain by `_`. */
export function legalName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_');
}
