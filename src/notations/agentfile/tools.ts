import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import type { McpServerSpec } from '../../plan/agent-spec.js';
import { READ_ONLY_TOOLS, type BuiltInTool } from '../../plan/built-in-tools.js';
import type { NarrowPolicy } from '../../plan/policy.js';
import { builtInOf, mcpPrefix } from '../../plan/tool-names.js';
import type { Findings } from '../../text/findings.js';
import type { Configuration } from './configuration.js';

/** Tool names in Agentfiles, and the name under which the model sees each. Each name selects exactly one tool. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['read', 'Read'],
  ['write', 'Write'],
  ['edit', 'Edit'],
  ['glob', 'glob'],
  ['grep', 'grep'],
  ['ls', 'LS'],
  ['bash', 'bash'],
  ['web_fetch', 'web_fetch'],
]);

/** Tools that texts of Agentfiles mention and that Skein does not have. */
const MISSING =
  /\b(?:spawn_agents?|web_search|memory_[a-z]+)\b|`(?:recall|remember)`|\b(?:recall|remember)(?=\(| tool)|\b[Uu]se (?:recall|remember)\b/g;

export interface OfferedTools {
  /** Built-in tools, as an agent's `tools`. */
  readonly tools: readonly string[];
  /** The servers of the offered tools, each limited to them. */
  readonly mcpServers: Readonly<Record<string, McpServerSpec>>;
  readonly note: string;
}

interface Asked {
  readonly name: string;
  readonly at: Position | undefined;
  readonly by: string;
}

/** Collects a file's tools: read-only, of `agent.toml`, of `--tools`, minus those the policy denies. Problem codes: `unknown-tool`. */
export function offerTools(
  { tools: configured, servers }: Configuration,
  flag: readonly string[],
  policy: NarrowPolicy | undefined,
  findings: Findings,
): OfferedTools {
  const asked: readonly Asked[] = [
    ...(configured?.names ?? []).map(({ text, at }) => ({ name: text.trim(), at, by: configured?.file ?? '' })),
    ...flag.map((name) => ({ name, at: undefined, by: '--tools' })),
  ];
  const known = asked.filter((one) => isKnown(one, Object.keys(servers), findings));
  const further = known.filter(({ name }) => !(READ_ONLY_TOOLS as readonly string[]).includes(toolOf(name) ?? ''));
  const isOff = (name: string): boolean => isDenied(name, policy);
  const reading = READ_ONLY_TOOLS.filter((tool) => !isOff(tool));
  const given = further.filter(({ name }) => !isOff(name));
  const off = [...READ_ONLY_TOOLS.filter(isOff), ...further.map(({ name }) => name).filter(isOff)];
  const builtIn = given.filter(({ name }) => toolOf(name) !== undefined);
  return {
    tools: [...new Set([...reading, ...builtIn.map(({ name }) => NAMES.get(name) ?? name)])],
    mcpServers: usedServers(
      servers,
      given.map(({ name }) => name),
    ),
    note: noteOf(reading, given, off.length === 0 ? undefined : `${policy?.file ?? ''} denies ${off.join(', ')}`),
  };
}

/** Returns the tools that a skill allows, as far as they are offered. Rules for arguments can't be enforced, so such a tool is left out. */
export function narrowed(
  offered: OfferedTools,
  allowed: readonly string[],
  skill: string,
  at: Position,
  findings: Findings,
): Pick<OfferedTools, 'tools' | 'mcpServers'> {
  const plain = allowed.filter((name) => !name.includes('('));
  const ruled = allowed.filter((name) => name.includes('('));
  if (ruled.length > 0) {
    const message = `the skill ${quoteShort(skill)} is not given ${ruled.join(', ')}: rules for arguments are not supported`;
    findings.warning('not-supported', message, at, 'allow the tool without a rule');
  }
  const tools = new Set(plain.map((name) => toolOf(name.toLowerCase()) ?? toolOf(name)));
  return {
    tools: offered.tools.filter((name) => tools.has(toolOf(name))),
    mcpServers: usedServers(offered.mcpServers, plain),
  };
}

function usedServers(servers: OfferedTools['mcpServers'], names: readonly string[]): OfferedTools['mcpServers'] {
  const used = Object.entries(servers).flatMap(([server, spec]) => {
    const named = names.filter((name) => serverOf(name, [server]));
    if (named.length === 0) return [];
    const isAll = named.some((name) => name === server || name === `${server}/*`);
    const tools = named.map((name) => name.replace(`${server}/`, '').replace(mcpPrefix(server), ''));
    const narrower = spec.tools === undefined ? tools : tools.filter((tool) => spec.tools?.includes(tool));
    return [[server, isAll ? spec : { ...spec, tools: narrower }] as const];
  });
  return Object.fromEntries(used);
}

/** Warns about a text that mentions a tool which does not exist. */
export function checkMissing(text: string, at: Position, findings: Findings): void {
  const found = text.match(MISSING);
  if (found === null) return;
  const names = new Set(found.map((name) => name.replaceAll(/`|^[Uu]se /g, '')));
  const message = `the text names ${[...names].join(', ')}, which Skein does not have`;
  findings.warning('missing-tool', message, at, 'the model is not offered it; write what to do without it');
}

export function nameInFiles(tool: string): string {
  return [...NAMES].find(([, name]) => name === tool)?.[0] ?? tool;
}

/** Returns the built-in tool with a name, in the words of Agentfiles or any other. */
export function toolOf(name: string): BuiltInTool | undefined {
  return builtInOf(NAMES.get(name) ?? name);
}

function serverOf(name: string, servers: readonly string[]): boolean {
  return servers.some(
    (server) => name === server || name.startsWith(`${server}/`) || name.startsWith(mcpPrefix(server)),
  );
}

function isKnown({ name, at, by }: Asked, servers: readonly string[], findings: Findings): boolean {
  if (toolOf(name) !== undefined || serverOf(name, servers)) return true;
  const names = [...NAMES.keys(), ...servers];
  const hint = findings.near(name, names) ?? `known are: ${names.join(', ')}`;
  findings.error('unknown-tool', `${by}: there is no tool ${quoteShort(name)}`, at, hint);
  return false;
}

/** Whether the policy denies a tool, under any of its names. */
function isDenied(name: string, policy: NarrowPolicy | undefined): boolean {
  if (policy === undefined) return false;
  const { defaultDeny = false, tools = {}, mcp, allow = [], deny = [] } = policy;
  const tool = toolOf(name);
  if (tool === undefined) return mcp === undefined ? defaultDeny && allow.length === 0 : mcp.enabled === false;
  if (deny.includes(tool)) return true;
  const said = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  return said === undefined
    ? defaultDeny && !allow.some((rule) => rule.split(':')[0] === tool)
    : said.enabled === false;
}

function noteOf(reading: readonly string[], given: readonly Asked[], denied: string | undefined): string {
  const sources = [...new Set(given.map(({ by }) => by))];
  const parts = [
    ...(reading.length === 0 ? [] : [`${reading.join(', ')} (by default: they only read)`]),
    ...sources.map((by) => `${given.flatMap((one) => (one.by === by ? [one.name] : [])).join(', ')} (by ${by})`),
  ];
  const more = given.length === 0 ? '; further ones: tools = ["write"] in agent.toml, or --tools write' : '';
  return `tools: ${parts.length === 0 ? 'none' : parts.join(', ')}${denied === undefined ? more : `; ${denied}`}`;
}
