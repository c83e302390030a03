import type { Position, Problem } from '../base/problem.js';
import { didYouMean } from '../base/suggest.js';
import { nameOf, type Scope } from './check-scope.js';
import { BUILT_IN_TOOLS } from './built-in-tools.js';
import { argumentFaults } from './tool-arguments.js';
import { agentsOf } from './nodes.js';
import type { Plan } from './plan.js';
import { builtInOf, selectTools } from './tool-names.js';
import { programFault } from './tool-words.js';
import type { ToolUse } from './tool-use.js';

/** Checks tools that steps call directly: `unknown-tool`, `shell-template`, `wrong-type`, and those of {@link argumentFaults}. */
export function checkTools(scope: Scope): void {
  scope.plan.nodes.forEach((node, at) => {
    if (node.kind !== 'task' || node.tool === undefined) return;
    const { tool } = node;
    const unknown = toolFault(tool.name, Object.keys(tool.mcpServers ?? {}));
    const what = `the tool of ${nameOf(scope, at)}`;
    if (unknown !== undefined) {
      const message = `${what} is ${JSON.stringify(tool.name)}, ${unknown.what}`;
      scope.findings.add('unknown-tool', message, { node: at, path: 'tool.name', hint: unknown.hint });
    }
    if (!isObject(tool)) {
      const hint = 'give its arguments by name';
      scope.findings.add('wrong-type', `what ${what} is called with is not an object`, {
        node: at,
        path: 'tool.input',
        hint,
      });
    }
    for (const { code, path, what: wrong, hint } of argumentFaults(tool))
      scope.findings.add(code, `${nameOf(scope, at)} ${wrong}`, {
        node: at,
        path: ['tool.input', ...path].join('.'),
        hint,
      });
    const fault = programFault(tool);
    if (fault !== undefined)
      scope.findings.add('shell-template', `${nameOf(scope, at)} ${fault.what}`, {
        node: at,
        path: fault.path,
        hint: fault.hint,
      });
  });
}

function isObject({ input }: ToolUse): boolean {
  if ('object' in input || 'channel' in input) return true;
  return 'value' in input && typeof input.value === 'object' && input.value !== null && !Array.isArray(input.value);
}

/** Returns what is wrong with the name of a tool that a step calls. */
export function toolFault(
  name: string,
  servers: readonly string[],
): { readonly what: string; readonly hint: string } | undefined {
  if (
    builtInOf(name) !== undefined ||
    servers.some((server) => name.length > server.length + 1 && name.startsWith(`${server}/`))
  )
    return undefined;
  const slash = name.indexOf('/');
  if (slash > 0) {
    const server = name.slice(0, slash);
    const known = servers.length === 0 ? 'no server is declared' : `servers are: ${servers.join(', ')}`;
    return { what: `and there is no server ${JSON.stringify(server)}`, hint: didYouMean(server, servers) ?? known };
  }
  const known = `built-in tools are: ${BUILT_IN_TOOLS.join(', ')}; one of a server is SERVER/TOOL`;
  return { what: 'which does not exist', hint: didYouMean(name, BUILT_IN_TOOLS) ?? known };
}

/** Where each agent names its tools, by the names of agent and tool. */
type ToolPlaces = ReadonlyMap<string, ReadonlyMap<string, Position>>;

/** Returns a warning (`unknown-tools`) for each agent that names tools which do not exist. Those of servers are unknown here. */
export function unknownTools(plan: Plan, places?: ToolPlaces): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const { node } of agentsOf(plan)) {
    const { name, tools, mcpServers } = node.agent;
    if (tools === undefined || tools.length === 0 || problems.has(name)) continue;
    const { unknown } = selectTools(tools, Object.keys(mcpServers ?? {}));
    const [first] = unknown;
    if (first === undefined) continue;
    const at = places?.get(name)?.get(first) ?? node.at;
    const names = unknown.map((tool) => JSON.stringify(tool)).join(', ');
    problems.set(name, {
      code: 'unknown-tools',
      severity: 'warning',
      message: `agent ${name}: Skein has no tool for ${names}; the agent runs without it`,
      ...(at === undefined ? {} : { at }),
      hint: adviceOn(first),
    });
  }
  return [...problems.values()];
}

/** What to write instead of a tool that does not exist, or that other programs know: `mcp__tickets__search`, `Bash(git log:*)`. */
function adviceOn(tool: string): string {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1];
  if (server !== undefined)
    return `declare the MCP server ${JSON.stringify(server)} for the agent: servers of .mcp.json are not read`;
  const whole = /^(\w+)\(.+\)$/.exec(tool)?.[1];
  if (whole !== undefined && selectTools([whole], []).unknown.length === 0)
    return `name ${JSON.stringify(whole)} without the brackets, and write a policy that forbids the other calls`;
  return didYouMean(tool, BUILT_IN_TOOLS) ?? 'name a built-in tool, or SERVER/TOOL of one of its MCP servers';
}
