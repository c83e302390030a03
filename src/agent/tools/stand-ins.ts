import type { McpServerSpec } from '../../plan/agent-spec.js';
import { takes, type BuiltInTool } from '../../plan/built-in-tools.js';
import type { Tool } from '../tool.js';
import type { Mocked } from './provider-options.js';
import { legalName, mcpPrefix, type ServerTools, type ToolSelection } from '../../plan/tool-names.js';

/** The result of a tool that would start or reach something, in a run without models whose script has none for it. */
const NOT_RUN = 'not run: a run with --mock starts no process and reaches no address';

/** Returns a built-in tool for a run without models: unchanged, unless it starts or reaches something. */
export function standIn(kind: BuiltInTool, tool: Tool, mock: Mocked): Tool {
  return takes(kind, 'command') || takes(kind, 'address')
    ? { ...tool, execute: scripted(tool.name, mock), pretended: true }
    : tool;
}

/** Tools of servers that are not started: those that the workflow names, and for a server used as a whole, those the script calls. */
export async function serverStandIns(
  selection: ToolSelection,
  specs: Readonly<Record<string, McpServerSpec>>,
  gated: ToolSelection,
  mock: Mocked,
): Promise<readonly Tool[]> {
  const servers = [...selection.servers.keys()];
  const called = await mock.calls();
  return [...selection.servers].flatMap(([server, wanted]) =>
    namedTools(server, wanted, specs[server]?.tools ?? ['*'], calledOf(server, servers, called)).map(
      ([name, tool]): Tool => {
        const approve = gated.servers.get(server);
        const mustAsk = approve === 'all' || approve?.raw.has(tool) === true || approve?.full.has(name) === true;
        return {
          name,
          description: `The tool ${tool} of the MCP server ${server}, which is not started.`,
          inputSchema: { type: 'object' },
          effect: 'idempotent',
          trust: 'untrusted',
          origin: { server, tool },
          pretended: true,
          ...(mustAsk ? { approve: true } : {}),
          execute: scripted(name, mock),
        };
      },
    ),
  );
}

/** Names without the server's prefix. If the prefixes of two servers match a name, the longer one counts. */
function calledOf(server: string, servers: readonly string[], called: readonly string[]): readonly string[] {
  const prefix = mcpPrefix(server);
  const longer = servers.map(mcpPrefix).filter((other) => other !== prefix && other.startsWith(prefix));
  return called
    .filter((name) => name.startsWith(prefix) && !longer.some((other) => name.startsWith(other)))
    .map((name) => name.slice(prefix.length));
}

function namedTools(
  server: string,
  wanted: ServerTools,
  listed: readonly string[],
  called: readonly string[],
): readonly (readonly [name: string, tool: string])[] {
  const prefix = mcpPrefix(server);
  const raw = wanted === 'all' ? listed.flatMap((tool) => (tool === '*' ? called : [tool])) : wanted.raw;
  const full = wanted === 'all' ? [] : wanted.full;
  const tools = new Map([...full].map((name) => [name, name.slice(prefix.length)]));
  for (const tool of raw) tools.set(`${prefix}${legalName(tool)}`, tool);
  return [...tools];
}

function scripted(name: string, mock: Mocked): Tool['execute'] {
  return async (input) => {
    const said = await mock.result(name, input);
    return typeof said === 'string' ? said : (JSON.stringify(said) ?? NOT_RUN);
  };
}
