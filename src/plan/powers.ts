import { madeOnce } from '../base/collections.js';
import { ownValue, present } from '../base/json.js';
import { variablesIn } from '../base/text.js';
import type { AgentSpec, McpServerSpec, SandboxUse } from './agent-spec.js';
import { BUILT_IN, takes, type BuiltInTool } from './built-in-tools.js';
import { askedOf } from './security-at.js';
import { sendText } from './declarations.js';
import { parsePermissionRule } from './permission-rule.js';
import type { JsonTemplate } from '../lang/values.js';
import { modelsOfBudgets, scriptsAmong, nodesOf } from './nodes.js';
import type { Plan } from './plan.js';
import { commandOf, lineOf, writtenText, type ToolUse } from './tool-use.js';
import { builtInOf, selectTools } from './tool-names.js';

/**
 * What a workflow can do beyond reading the project: `runs` is code of the workflow itself, `follows` a script that replaces a model,
 * `allows` a rule that permits calls without a question.
 */
export interface Power {
  readonly kind: 'runs' | 'starts' | 'reaches' | 'reads' | 'writes' | 'follows' | 'allows';
  /** A command line, an address, a path, a rule, or the choices of an agent. */
  readonly what: string;
  /** Its purpose: `MCP server kit of agent root`. */
  readonly why: string;
  /** Environment variables whose values are passed on. */
  readonly variables: readonly string[];
  /** The words of the command line, if there is one. */
  readonly argv?: readonly string[];
  readonly sandbox?: SandboxUse;
}

/** Returns what a plan could do beyond reading the project, each power once. `isOutside`: whether a path is outside of it. */
export function powersOf(plan: Plan, isOutside: (path: string) => boolean = () => true): readonly Power[] {
  const powers = new Map<string, Power>();
  for (const { agent } of askedOf(plan))
    for (const one of ofAgent(agent))
      if (one.kind !== 'reads' || isOutside(one.what)) powers.set(JSON.stringify(one), one);
  for (const file of scriptsAmong(modelsOfBudgets(plan))) {
    const one = power('follows', file, 'model that a budget names');
    powers.set(JSON.stringify(one), one);
  }
  for (const { node } of nodesOf(plan))
    if (node.kind === 'task' && node.tool !== undefined)
      for (const one of ofStep(node.id, node.tool)) powers.set(JSON.stringify(one), one);
  for (const one of declared(plan)) powers.set(JSON.stringify(one), one);
  return [...powers.values()];
}

const sandboxed = new WeakMap<Plan, { readonly who: string | undefined }>();

/** Returns an agent or a tool server whose programs must run in a sandbox; undefined if there is none. Accepts only frozen plans. */
export function sandboxedIn(plan: Plan): string | undefined {
  return madeOnce(sandboxed, plan, () => ({ who: findSandboxed(plan) })).who;
}

function findSandboxed(plan: Plan): string | undefined {
  for (const { agent } of askedOf(plan)) {
    const { name, sandbox, mcpServers = {} } = agent;
    if (sandbox !== undefined) return `agent ${name}`;
    const server = Object.keys(mcpServers).find((one) => mcpServers[one]?.sandbox !== undefined);
    if (server !== undefined) return `MCP server ${server} of agent ${name}`;
  }
  for (const { node } of nodesOf(plan)) {
    const { sandbox, mcpServers = {} }: Partial<ToolUse> = (node.kind === 'task' ? node.tool : undefined) ?? {};
    if (sandbox !== undefined) return `step ${node.id}`;
    const server = Object.keys(mcpServers).find((one) => mcpServers[one]?.sandbox !== undefined);
    if (server !== undefined) return `MCP server ${server} of step ${node.id}`;
  }
  return undefined;
}

function* ofAgent(agent: AgentSpec): Generator<Power> {
  const { name, provider, mcpServers = {}, tools, extraDirs = [], permissions } = agent;
  if (provider?.baseUrl !== undefined) {
    const variables = provider.apiKeyEnv === undefined ? [] : [provider.apiKeyEnv];
    yield { kind: 'reaches', what: provider.baseUrl, why: `models of agent ${name}`, variables };
  }
  for (const file of scriptsAmong(agent.models)) yield power('follows', file, `model of agent ${name}`);
  for (const [server, spec] of Object.entries(mcpServers))
    yield ofServer(spec, `MCP server ${server} of agent ${name}`);
  const granted = new Set(selectTools(tools, Object.keys(mcpServers)).builtIn.values());
  for (const tool of granted) yield* ofTool(tool, `tool ${tool} of agent ${name}`, agent.sandbox);
  for (const folder of extraDirs) yield power('reads', folder, `folder of agent ${name}`);
  for (const rule of permissions?.allow ?? [])
    if (!onlyReads(rule)) yield power('allows', rule, `rule of agent ${name}`);
}

/** Yields what a step does directly, as its author wrote it, with references in braces. */
function* ofStep(id: string, tool: ToolUse): Generator<Power> {
  const { name, input, env = {}, sandbox, mcpServers = {} } = tool;
  const why = `step ${id}`;
  for (const [server, spec] of Object.entries(mcpServers)) yield ofServer(spec, `MCP server ${server} of ${why}`);
  const builtIn = builtInOf(name);
  const command = commandOf(tool);
  if (command !== undefined) {
    const argv = command.map(writtenText);
    const literals = Object.values(env).flatMap((text) => text.filter((piece) => typeof piece === 'string'));
    const variables = [...new Set(literals.flatMap(variablesIn))];
    yield { kind: 'starts', what: lineOf(argv), why, variables, argv, ...present({ sandbox }) };
  } else if (builtIn === undefined) yield power('allows', name, `call of ${why}`);
  else yield* ofBuiltIn(builtIn, { what: (argument) => writtenArgument(input, argument), why }, sandbox);
}

/** Returns an argument of a call as its author wrote it. */
function writtenArgument(input: JsonTemplate, name: string): string | undefined {
  if ('object' in input) {
    const source = ownValue(input.object, name) as JsonTemplate | undefined;
    return source && writtenText(source);
  }
  const value = 'value' in input ? ownValue(input.value, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Yields the declared calls, which need no question even if they were influenced from outside. */
function* declared({ hosts = [], commands = [], sends = [] }: Plan): Generator<Power> {
  for (const host of hosts) yield power('allows', host, 'declared host');
  for (const argv of commands) yield { ...power('allows', lineOf(argv), 'declared command'), argv };
  for (const send of sends) yield power('allows', sendText(send), 'declared call');
}

function power(kind: Power['kind'], what: string, why: string): Power {
  return { kind, what, why, variables: [] };
}

const CHOSEN: Readonly<Record<string, string>> = {
  command: 'commands that the agent chooses',
  url: 'addresses that the agent chooses',
  path: 'files of the project that the agent chooses',
};

function* ofTool(tool: BuiltInTool, why: string, sandbox: SandboxUse | undefined): Generator<Power> {
  yield* ofBuiltIn(tool, { what: (argument) => CHOSEN[argument], why }, sandbox);
}

/** `what` returns the text of an argument of the tool. */
function* ofBuiltIn(
  tool: BuiltInTool,
  { what, why }: { readonly what: (argument: string) => string | undefined; readonly why: string },
  sandbox: SandboxUse | undefined,
): Generator<Power> {
  const starts = takes(tool, 'command');
  const reaches = takes(tool, 'address');
  if (starts) yield { ...power('starts', what('command') ?? 'a command', why), ...present({ sandbox }) };
  if (reaches) yield power('reaches', what('url') ?? 'an address', why);
  if (!starts && !reaches && BUILT_IN[tool].effect !== 'read')
    yield power('writes', what('path') ?? 'a file of the project', why);
}

/** Returns whether a rule concerns a tool that only reads, which needs no question. */
function onlyReads(rule: string): boolean {
  const parsed = parsePermissionRule(rule);
  const tool = typeof parsed === 'string' ? undefined : builtInOf(parsed.tool);
  return tool !== undefined && BUILT_IN[tool].effect === 'read';
}

function ofServer({ command, args = [], url, env = {}, headers = {}, sandbox }: McpServerSpec, why: string): Power {
  const texts = [...Object.values(command === undefined ? headers : env), ...args, url ?? ''];
  const variables = [...new Set(texts.flatMap(variablesIn))];
  if (command === undefined) return { kind: 'reaches', what: url ?? 'nothing', why, variables };
  const argv = [command, ...args];
  return { kind: 'starts', what: lineOf(argv), why, variables, argv, ...present({ sandbox }) };
}
