import { quoteShort } from '../../../lang/value-text.js';
import type { McpServerSpec } from '../../../plan/agent-spec.js';
import type { SourceNode } from '../../../text/nodes.js';
import { readFields, type Fields } from '../../../text/shape.js';
import { readSupported, reportOne } from '../../../text/unsupported.js';
import { TOOLSETS } from './keys.js';
import { readMcp, type McpDef } from './read-mcps.js';
import { allTools, toolNames, toolsOf } from './tool-names.js';
import { UNSUPPORTED } from './unsupported-keys.js';

/** The result of an agent's toolsets. */
export interface Equipment {
  readonly tools: Set<string>;
  readonly servers: Map<string, McpServerSpec>;
  memory: boolean;
  interactive: boolean;
  /** True if searches include `node_modules`. */
  searchesAll: boolean;
}

/** Servers of the section `mcps`, which toolsets may refer to. */
type Mcps = ReadonlyMap<string, McpDef>;

/**
 * Reads the key `toolsets` of an agent. An agent without it has no tools. Problem codes: `unknown-toolset`, `unknown-tool`, `unknown-mcp`,
 * `not-supported`, `no-effect`, and those of the readers of MCP servers.
 */
export function readToolsets(agent: Fields, mcps: Mcps): Equipment {
  const equipment: Equipment = {
    tools: new Set(),
    servers: new Map(),
    memory: false,
    interactive: false,
    searchesAll: false,
  };
  const items = agent.items('toolsets', 'write each toolset as - type: filesystem') ?? [];
  for (const item of items) readToolset(item, agent, mcps, equipment);
  return equipment;
}

function readToolset(item: SourceNode, agent: Fields, mcps: Mcps, equipment: Equipment): void {
  const { findings } = agent;
  const open = readFields(item, { name: `a toolset of ${agent.name}` }, findings);
  if (open === undefined) return;
  const written = open.scalar('type');
  const type = written?.text.trim() ?? '';
  const form = TOOLSETS.get(type);
  if (form === undefined) {
    unknownType(type, written?.at ?? item.at, agent);
    return;
  }
  const toolset = readSupported(item, `toolset ${type} of ${agent.name}`, form, findings);
  if (toolset === undefined) return;
  if (type === 'memory') equipment.memory = true;
  else if (type === 'user_prompt') equipment.interactive = true;
  else if (type === 'mcp') addServer(toolset, agent.name, mcps, equipment);
  else addTools(toolset, type, equipment);
  if (toolset.flag('ignore_vcs') === false) equipment.searchesAll = true;
}

function unknownType(type: string, at: SourceNode['at'], { name, findings }: Fields): void {
  const unsupported = UNSUPPORTED.toolsets.get(type);
  if (unsupported !== undefined) {
    reportOne(`the toolset ${type} of ${name}`, unsupported, at, findings);
    return;
  }
  const known = [...TOOLSETS.keys()];
  const message = type === '' ? `a toolset of ${name} needs a type` : `there is no toolset ${quoteShort(type)}`;
  const near = type === '' ? undefined : findings.near(type, known);
  findings.error('unknown-toolset', message, at, near ?? `one of: ${known.join(', ')}`);
}

function addTools(toolset: Fields, type: string, { tools }: Equipment): void {
  const { name, findings } = toolset;
  const wanted = toolset.texts('tools');
  if (wanted === undefined) {
    if (!toolset.has('tools')) for (const tool of allTools(type)) tools.add(tool);
    return;
  }
  if (wanted.length === 0) warnEmpty(toolset, name);
  for (const { text, at } of wanted) {
    const found = toolsOf(type, text.trim());
    for (const tool of found ?? []) tools.add(tool);
    if (found === undefined) {
      const hint = findings.near(text, toolNames(type)) ?? `its tools are: ${toolNames(type).join(', ')}`;
      findings.error('unknown-tool', `${name} has no tool ${quoteShort(text)}`, at, hint);
    } else if (found.length === 0) {
      const hint = `take it out of the list; there are: ${allTools(type).join(', ')}`;
      findings.lost('meaning', `the tool ${quoteShort(text)} of ${name} is not supported`, at, hint);
    }
  }
}

function warnEmpty(toolset: Fields, name: string): void {
  const message = `${name} gives no tools: its list of tools is empty`;
  toolset.warning('no-effect', 'tools', message, 'leave the key tools out to have all of them');
}

function addServer(toolset: Fields, agent: string, mcps: Mcps, equipment: Equipment): void {
  const ref = toolset.scalar('ref');
  const named = ref === undefined ? undefined : mcps.get(ref.text);
  if (ref !== undefined && named === undefined && !ref.text.startsWith('docker:')) {
    const hint = toolset.findings.near(ref.text, mcps.keys()) ?? 'declare the server under mcps';
    toolset.error('unknown-mcp', 'ref', `there is no MCP server ${quoteShort(ref.text)} under mcps`, hint);
    return;
  }
  const mcp = named === undefined ? readMcp(toolset, `an MCP server of ${agent}`) : referred(toolset, named, agent);
  if (mcp.server === undefined) return;
  const wanted = toolset.text('name') ?? ref?.text ?? ownName(mcp.server);
  const name = freeName(wanted, equipment.servers);
  equipment.servers.set(name, mcp.server);
  if (mcp.tools === undefined) equipment.tools.add(`${name}/*`);
  for (const tool of mcp.tools ?? []) equipment.tools.add(`${name}/${tool}`);
  if (mcp.tools?.length === 0) warnEmpty(toolset, `the MCP server ${quoteShort(name)} of ${agent}`);
}

/** Returns a server of `mcps`. The toolset may only override its tools. */
function referred(toolset: Fields, named: McpDef, agent: string): McpDef {
  for (const key of ['command', 'args', 'env', 'remote']) {
    if (!toolset.has(key)) continue;
    const message = `${key} of a toolset of ${agent} has no effect when ref is set`;
    toolset.warning('no-effect', key, message, 'write it under mcps, or remove ref');
  }
  return { server: named.server, tools: toolset.texts('tools')?.map((tool) => tool.text) ?? named.tools };
}

/** Returns a default name for a server: the program or the host. */
function ownName({ command, url }: McpServerSpec): string {
  if (command !== undefined) return command.split(/[\\/]/).at(-1) ?? '';
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : '';
}

function freeName(wanted: string, servers: ReadonlyMap<string, unknown>): string {
  const legal = wanted.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 56);
  const name = /^[A-Za-z0-9_]/.test(legal) ? legal : `mcp_${legal}`;
  for (let i = 1; ; i++) {
    const free = i === 1 ? name : `${name}_${i}`;
    if (!servers.has(free)) return free;
  }
}
