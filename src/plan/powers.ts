import { variablesIn } from '../lang/variables.js';
import type { AgentSpec, McpServerSpec } from './agent-spec.js';
import { agentsOf } from './nodes.js';
import type { Plan } from './plan.js';
import type { BuiltInTool } from './built-in-tools.js';
import { takes } from './built-in-tools.js';
import { selectTools } from './tool-names.js';

/** Something outside of itself that a workflow would start or reach. */
export interface Power {
  readonly kind: 'starts' | 'reaches';
  /** A command line, an address, or what an agent may choose. */
  readonly what: string;
  /** What it is for: `MCP server kit of agent root`. */
  readonly why: string;
  /** Variables of the environment whose values go there. */
  readonly variables: readonly string[];
}

/**
 * What a plan would start and reach, as far as its text says so; each once, in the order of its steps. Where models are called by the environment's
 * choice is not part of it.
 */
export function powersOf(plan: Plan): readonly Power[] {
  const powers = new Map<string, Power>();
  for (const { node } of agentsOf(plan))
    for (const power of ofAgent(node.agent)) powers.set(JSON.stringify(power), power);
  return [...powers.values()];
}

function* ofAgent(agent: AgentSpec): Generator<Power> {
  const { name, provider, mcpServers = {}, tools } = agent;
  if (provider?.baseUrl !== undefined) {
    const variables = provider.apiKeyEnv === undefined ? [] : [provider.apiKeyEnv];
    yield { kind: 'reaches', what: provider.baseUrl, why: `models of agent ${name}`, variables };
  }
  for (const [server, spec] of Object.entries(mcpServers))
    yield ofServer(spec, `MCP server ${server} of agent ${name}`);
  const granted = new Set(selectTools(tools, Object.keys(mcpServers)).builtIn.values());
  for (const tool of granted) yield* ofTool(tool, `tool ${tool} of agent ${name}`);
}

function* ofTool(tool: BuiltInTool, why: string): Generator<Power> {
  const variables: readonly string[] = [];
  if (takes(tool, 'command')) yield { kind: 'starts', what: 'commands that the agent chooses', why, variables };
  if (takes(tool, 'address')) yield { kind: 'reaches', what: 'addresses that the agent chooses', why, variables };
}

function ofServer({ command, args = [], url, env = {}, headers = {} }: McpServerSpec, why: string): Power {
  const texts = [...Object.values(command === undefined ? headers : env), ...args, url ?? ''];
  const variables = [...new Set(texts.flatMap(variablesIn))];
  if (command === undefined) return { kind: 'reaches', what: url ?? 'nothing', why, variables };
  const line = [command, ...args]
    .map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
  return { kind: 'starts', what: line, why, variables };
}
