import { SkeinError } from '../../base/errors.js';
import { canonicalHash, sha256 } from '../../base/hash.js';
import { ownValue, type JsonObject } from '../../base/json.js';
import type { McpServerSpec } from '../../plan/agent-spec.js';
import type { Tool, ToolOrigin, ToolSource } from '../tool.js';
import { legalName, mcpPrefix, type ServerTools } from '../../plan/tool-names.js';
import { McpConnection, type McpSettings } from './connection.js';
import type { OfferedTool } from './offered.js';
import { cleanText } from './untrusted.js';

const MAX_NAME = 64;

/**
 * Opens the MCP servers of an agent, all at once, and returns their tools under the names `mcp_SERVER_TOOL`.
 *
 * @param wanted the servers to open and which of their tools may be used
 * @throws SkeinError `SKEIN_MCP` if one of them cannot be opened; the others are closed first
 */
export async function openMcpServers(
  wanted: ReadonlyMap<string, ServerTools>,
  specs: Readonly<Record<string, McpServerSpec>>,
  settings: McpSettings,
): Promise<ToolSource> {
  const names = [...wanted.keys()];
  const opened = await Promise.allSettled(
    names.map(async (name) => McpConnection.open(name, ownValue(specs, name) as McpServerSpec, settings)),
  );
  const connections = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  const failed = opened.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  const found = opened.flatMap((one, i) => {
    const name = names[i] ?? '';
    if (one.status === 'rejected') return [];
    return offeredBy(name, one.value, (ownValue(specs, name) as McpServerSpec).tools);
  });
  const named = nameTools(found);
  const tools = named.filter((tool) => isWanted(tool, wanted.get(tool.server)));
  const changed = changedTools(tools, specs, settings);
  warnMissing(wanted, named, settings);
  const ungated = missingNames(settings.approve ?? new Map(), named).filter((one) => names.includes(one.server));
  if (ungated.length > 0) {
    await close();
    throw notOffered(settings.agent, ungated);
  }
  return {
    tools: tools.map((tool) =>
      toTool(tool, {
        approve: isWanted(tool, settings.approve?.get(tool.server)),
        isRemote: (ownValue(specs, tool.server) as McpServerSpec).url !== undefined,
        isChanged: changed.has(tool),
      }),
    ),
    close,
  };
}

/** Returns the tools that differ from what the user last accepted, and warns about them. */
function changedTools(
  tools: readonly NamedTool[],
  specs: Readonly<Record<string, McpServerSpec>>,
  settings: McpSettings,
): ReadonlySet<NamedTool> {
  const changed = new Set<NamedTool>();
  const { agent, pins } = settings;
  if (pins === undefined) return changed;
  for (const [name, { connection }] of new Map(tools.map((tool) => [tool.server, tool]))) {
    const entry = canonicalHash(ownValue(specs, name));
    const names = pins.compare({ name, entry, tools: connection.tools });
    const here = tools.filter(({ server, tool }) => server === name && names.includes(tool.name));
    if (here.length === 0) continue;
    for (const tool of here) changed.add(tool);
    const list = here.map(({ tool }) => cleanText(tool.name)).join(', ');
    const since = `MCP server "${name}" changed since you last said yes to this workflow: ${list}`;
    settings.warn(
      'mcp-tools-changed',
      `agent ${agent}: ${since}. What it says of them is untrusted; skein trust shows it`,
    );
  }
  return changed;
}

interface FoundTool {
  readonly server: string;
  readonly connection: McpConnection;
  readonly tool: OfferedTool;
}

interface NamedTool extends FoundTool {
  readonly name: string;
}

/** The tools that a server offers, without those that its entry leaves out. */
function offeredBy(
  server: string,
  connection: McpConnection,
  allowed: readonly string[] | undefined,
): readonly FoundTool[] {
  const all = allowed === undefined || allowed.includes('*');
  return connection.tools
    .filter((tool) => all || allowed.includes(tool.name))
    .map((tool) => ({ server, connection, tool }));
}

/** Gives tools legal, distinct names. Of equal names each gets a mark made from its server and its own name, in any order. */
function nameTools(found: readonly FoundTool[]): readonly NamedTool[] {
  const plain = found.map((one) => `${mcpPrefix(one.server)}${legalName(one.tool.name)}`);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return found.map((one, i) => {
    const name = plain[i] ?? '';
    if (name.length <= MAX_NAME && counts.get(name) === 1) return { ...one, name };
    const mark = `_${sha256(JSON.stringify([one.server, one.tool.name])).slice(0, 8)}`;
    return { ...one, name: `${name.slice(0, MAX_NAME - mark.length)}${mark}` };
  });
}

function isWanted(tool: NamedTool, wanted: ServerTools | undefined): boolean {
  if (wanted === undefined) return false;
  return wanted === 'all' || wanted.raw.has(tool.tool.name) || wanted.full.has(tool.name);
}

function warnMissing(
  wanted: ReadonlyMap<string, ServerTools>,
  named: readonly NamedTool[],
  settings: McpSettings,
): void {
  const missing = missingNames(wanted, named).map((one) => one.name);
  if (missing.length === 0) return;
  settings.warn('unknown-tools', `agent ${settings.agent}: its MCP servers offer no ${missing.join(', ')}`);
}

interface MissingTool {
  readonly server: string;
  readonly name: string;
}

function missingNames(asked: ReadonlyMap<string, ServerTools>, named: readonly NamedTool[]): readonly MissingTool[] {
  const missing: MissingTool[] = [];
  for (const [server, tools] of asked) {
    if (tools === 'all') continue;
    const here = named.filter((tool) => tool.server === server);
    for (const name of tools.raw) {
      if (!here.some((tool) => tool.tool.name === name)) missing.push({ server, name: `${server}/${name}` });
    }
    for (const name of tools.full) if (!here.some((tool) => tool.name === name)) missing.push({ server, name });
  }
  return missing;
}

/** The error for an approval that names no offered tool: its calls must not pass under another name. */
function notOffered(agent: string, missing: readonly MissingTool[]): SkeinError {
  const names = missing.map((one) => one.name).join(', ');
  return new SkeinError(
    'SKEIN_DEFINITION',
    `agent ${agent}: approve names ${names}, which its MCP servers do not offer`,
    {
      hint: 'correct the name, or name the whole server: SERVER/*',
    },
  );
}

function toTool(
  { name, server, connection, tool }: NamedTool,
  {
    approve,
    isRemote,
    isChanged,
  }: { readonly approve: boolean; readonly isRemote: boolean; readonly isChanged: boolean },
): Tool {
  const origin: ToolOrigin = {
    server,
    tool: tool.name,
    ...(tool.readOnly && !isChanged ? { readOnly: true } : {}),
    ...(isRemote ? { isRemote } : {}),
    ...(isChanged ? { isChanged } : {}),
    pin: tool.pin,
  };
  return {
    ...(approve ? { approve } : {}),
    name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    // A server's own hints decide at most whether a call may be repeated, never that it is harmless.
    effect: tool.repeatable && !isChanged ? 'idempotent' : 'once',
    trust: 'untrusted',
    origin,
    execute: (input: JsonObject, io) => connection.call(tool, input, io),
  };
}
