import { parseDuration } from '../../base/duration.js';
import { present } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import { DECLARED } from '../../plan/declarations.js';
import { toolArguments, comparedIn, parsePermissionRule } from '../../plan/permission-rule.js';
import type { Policy, ServerTrust, ServersPolicy, ToolPolicy } from '../../plan/policy.js';
import type { Findings } from '../../text/findings.js';
import { describe, entryOf, isNothing, type SourceEntry, type SourceMap, type SourceNode } from '../../text/nodes.js';
import { readFields } from '../../text/shape.js';
import { parseToml } from '../../text/toml.js';
import { parseYaml } from '../../text/yaml.js';
import { toolOf } from '../agentfile/tools.js';
import { readDeclarations } from '../declarations-key.js';

export interface PolicyPlace {
  /** The path shown in messages. */
  readonly file: string;
  /** True if the policy is outside the project and was named by the person who runs the workflow. */
  readonly widens: boolean;
}

type Draft<T> = { -readonly [K in keyof T]?: T[K] | undefined };
type Change = Draft<Policy>;

/** Readers of the top-level keys of a policy. A table with any other name is that of a tool. */
const KEYS: Readonly<Record<string, (entry: SourceEntry, findings: Findings) => Change>> = {
  default_deny: (entry, findings) => ({ defaultDeny: readFlag(entry, findings) }),
  allow: (entry, findings) => ({ allow: readRules(entry, findings) }),
  deny: (entry, findings) => ({ deny: readRules(entry, findings) }),
  folders: (entry, findings) => ({ folders: readTexts(entry, findings) }),
  domains: (entry, findings) => ({ domains: readTexts(entry, findings) }),
  mcp: readMcp,
};
const SAME: Readonly<Record<string, string>> = { allowed_dirs: 'folders', allow_domains: 'domains' };

/** Keys that widen permissions. */
const WIDER: Readonly<Record<string, (entry: SourceEntry, findings: Findings) => Change>> = {
  project: (entry, findings) => ({ project: readWord(entry, ['untrusted', 'public'] as const, findings) }),
  servers: (entry, findings) => ({ servers: readServers(entry, findings) }),
  // Read together, as in workflow files.
  ...Object.fromEntries(DECLARED.map((key) => [key, () => ({})])),
};

/**
 * Reads a policy from any notation. Problem codes: `policy-not-enforced` (a warning that keeps a run from starting: ignoring a rule is
 * worse than having none), `empty-policy`, `policy-rule`, `policy-widens`, `wrong-type`, `unknown-value`, and those of {@link readDeclarations}.
 */
export function readPolicyMap(root: SourceNode, { file, widens }: PolicyPlace, findings: Findings): Policy {
  const changes: Change[] = [];
  const entries = isNothing(root) ? [] : mapOf(root, 'the policy', findings)?.entries;
  if (entries?.length === 0) reportEmpty(root.at, findings);
  for (const entry of entries ?? []) changes.push(...readTop(entry, widens, findings));
  if (widens) changes.push(readDeclared(root, findings));
  const lists = (key: 'allow' | 'deny' | 'folders' | 'domains'): readonly string[] | undefined => {
    const all = changes.flatMap((change) => change[key] ?? []);
    return all.length === 0 ? undefined : [...new Set(all)];
  };
  const tools = Object.assign({}, ...changes.map((change) => change.tools)) as Readonly<Record<string, ToolPolicy>>;
  return {
    ...present(Object.assign({}, ...changes) as Change),
    file,
    ...(widens ? { widens } : {}),
    ...present({
      allow: lists('allow'),
      deny: lists('deny'),
      folders: lists('folders'),
      domains: lists('domains'),
      tools: Object.keys(tools).length === 0 ? undefined : tools,
    }),
  };
}

function readDeclared(root: SourceNode, findings: Findings): Change {
  const fields = root.kind === 'map' ? readFields(root, { name: 'the policy' }, findings) : undefined;
  return fields === undefined ? {} : readDeclarations(fields);
}

function readTop(entry: SourceEntry, widens: boolean, findings: Findings): readonly Change[] {
  const { key, value } = entry;
  const name = SAME[key] ?? key;
  const wider = Object.hasOwn(WIDER, name) ? WIDER[name] : undefined;
  if (wider !== undefined) {
    if (widens) return [wider(entry, findings)];
    const hint = 'write it into a policy outside of the project, and name that with --policy FILE';
    const message = `${key} counts only in a policy from outside of the project: what lies in the project can only narrow`;
    findings.error('policy-widens', message, entry.at, hint);
    return [];
  }
  const known = Object.hasOwn(KEYS, name) ? KEYS[name] : undefined;
  if (known !== undefined) return [known({ ...entry, key: name }, findings)];
  if (key === 'tools' && value.kind === 'map')
    return value.entries.flatMap((tool) => readTool(tool, `tools.${tool.key}`, findings));
  if (value.kind === 'map') return readTool(entry, key, findings);
  reportRule(key, entry, findings);
  return [];
}

function readMcp({ key, value }: SourceEntry, findings: Findings): Change {
  const mcp: Draft<ServersPolicy> = {};
  const change: Change = {};
  for (const entry of mapOf(value, key, findings)?.entries ?? []) {
    if (entry.key === 'enabled') mcp.enabled = readFlag(entry, findings);
    else if (entry.key === 'default_deny') mcp.defaultDeny = readFlag(entry, findings);
    else if (entry.key === 'allow' || entry.key === 'allowed_tools') change.allow = readRules(entry, findings);
    else if (entry.key === 'deny') change.deny = readRules(entry, findings);
    else reportRule(`${key}.${entry.key}`, entry, findings);
  }
  change.mcp = present(mcp);
  return change;
}

function readTool({ key, value, at }: SourceEntry, name: string, findings: Findings): readonly Change[] {
  if (value.kind !== 'map') {
    reportRule(name, { value, at }, findings);
    return [];
  }
  const tool: Draft<ToolPolicy> = {};
  const flag = entryOf(value, 'enabled');
  const isOn = flag === undefined || readFlag(flag, findings);
  const own = toolOf(key) ?? key;
  let domains: readonly string[] | undefined;
  // The rules of a disabled tool have nothing to forbid.
  for (const entry of isOn ? value.entries.filter((one) => one !== flag) : []) {
    const rule = { ...entry, key: `${name}.${entry.key}` };
    if (entry.key === 'timeout') tool.timeoutMs = readTime(rule, findings);
    else if (['allow', 'allowlist'].includes(entry.key)) tool.allow = readPatterns(own, rule, findings);
    else if (['deny', 'denylist'].includes(entry.key)) tool.deny = readPatterns(own, rule, findings);
    else if (own === 'fetch' && entry.key === 'allow_domains') domains = readTexts(rule, findings);
    else if (entry.key !== 'default_deny' || readFlag(rule, findings)) reportRule(rule.key, entry, findings);
  }
  const read: ToolPolicy = present({ ...tool, enabled: isOn ? flag && true : false });
  return [{ tools: { [own]: read }, ...present({ domains }) }];
}

/** Reads patterns for the command, the path or the address of a tool. An empty list has no effect. */
function readPatterns(tool: string, entry: SourceEntry, findings: Findings): readonly string[] | undefined {
  if (comparedIn(tool) === undefined) {
    reportRule(entry.key, entry, findings);
    return undefined;
  }
  return (
    readRules(entry, findings, (pattern) => `${tool}:${comparedIn(tool) ?? ''}=${pattern}`) &&
    readTexts(entry, findings)
  );
}

function readTime({ key, value }: SourceEntry, findings: Findings): number | undefined {
  const given = value.kind === 'scalar' ? value.value : undefined;
  const ms = typeof given === 'number' ? given * 1_000 : typeof given === 'string' ? parseDuration(given) : undefined;
  if (ms !== undefined && ms >= 1 && Number.isFinite(ms)) return Math.round(ms);
  findings.error('wrong-type', `${key} must be a time`, value.at, 'write 30s, 2m, or a number of seconds');
  return undefined;
}

function readServers({ key, value }: SourceEntry, findings: Findings): Readonly<Record<string, ServerTrust>> {
  const servers: Record<string, ServerTrust> = {};
  for (const { key: server, value: said } of mapOf(value, key, findings)?.entries ?? []) {
    const trust: Draft<ServerTrust> = {};
    for (const entry of mapOf(said, `${key}.${server}`, findings)?.entries ?? []) {
      if (entry.key === 'level') trust.level = readWord(entry, ['trusted', 'vetted', 'untrusted'] as const, findings);
      else if (entry.key === 'public') trust.public = readFlag(entry, findings);
      else reportRule(`${key}.${server}.${entry.key}`, entry, findings);
    }
    servers[server] = present(trust);
  }
  return servers;
}

function mapOf(node: SourceNode, name: string, findings: Findings): SourceMap | undefined {
  if (node.kind === 'map') return node;
  findings.error('wrong-type', `${name} must be a map, not ${describe(node)}`, node.at, 'write key: value');
  return undefined;
}

function reportRule(
  name: string,
  { value, at }: { readonly value: SourceNode; readonly at: Position },
  findings: Findings,
): void {
  if (value.kind === 'list' && value.items.length === 0) return;
  const near = findings.near(name, [...Object.keys(KEYS), ...Object.keys(WIDER), 'tools']);
  const hint = near ?? 'remove the rule, or switch the tool off: enabled = false';
  const message = `the rule ${name} is not enforced: a run does not start`;
  findings.add([{ code: 'policy-not-enforced', severity: 'warning', message, at, hint, holds: true }]);
}

/** Reads the text of a policy, YAML or TOML by its file name. Undefined if it can't be parsed, or is empty: `empty-policy`. */
export async function readPolicyText(
  text: string,
  { file, widens, path }: { readonly file: string; readonly widens: boolean; readonly path: string },
  findings: Findings,
): Promise<Policy | undefined> {
  const { root, problems } = path.endsWith('.toml')
    ? await parseToml(text, file)
    : parseYaml(text, file, { aliases: false });
  findings.add(problems);
  if (root !== undefined) return readPolicyMap(root, { file, widens }, findings);
  if (problems.length === 0) reportEmpty({ file, line: 1, column: 1 }, findings);
  return undefined;
}

/** A file that was cut off while it was written would permit everything. */
function reportEmpty(at: Position, findings: Findings): void {
  findings.error('empty-policy', 'the policy has no rules', at, 'write its rules, or remove the file');
}

/** Reads `true` or `false`. Any other value is reported and counts as `false`. */
function readFlag({ key, value }: SourceEntry, findings: Findings): boolean {
  if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value;
  findings.error('wrong-type', `${key} must be true or false`, value.at, 'write true or false, without quotes');
  return false;
}

function readWord<T extends string>(
  { key, value }: SourceEntry,
  words: readonly T[],
  findings: Findings,
): T | undefined {
  const found = value.kind === 'scalar' ? words.find((word) => word === value.value) : undefined;
  if (found === undefined)
    findings.error(
      'unknown-value',
      `${key} must be ${words.join(' or ')}`,
      value.at,
      `write one of: ${words.join(', ')}`,
    );
  return found;
}

function readTexts({ key, value }: SourceEntry, findings: Findings): readonly string[] | undefined {
  const items = value.kind === 'list' ? value.items : undefined;
  if (items === undefined) {
    const message = `${key} must be a list of texts, not ${describe(value)}`;
    findings.error('wrong-type', message, value.at, 'write a list: ["one", "two"]');
    return undefined;
  }
  const texts = items.flatMap((item) => {
    if (item.kind === 'scalar' && typeof item.value === 'string' && item.text.trim() !== '') return [item.text.trim()];
    findings.error(
      'wrong-type',
      `${key} must be a list of texts; this entry is ${describe(item)}`,
      item.at,
      'put quotes around it, or take it out',
    );
    return [];
  });
  return texts.length === 0 ? undefined : texts;
}

/** Reads rules for calls, each in the form of a permission. `ruleOf` converts a written text to a rule. */
function readRules(
  { key, value, at }: SourceEntry,
  findings: Findings,
  ruleOf: (text: string) => string = ownRule,
): readonly string[] | undefined {
  const texts = readTexts({ key, value, at }, findings);
  return texts?.flatMap((text) => {
    const rule = ruleOf(text);
    const wrong = wrongWith(rule);
    if (wrong === undefined) return [rule];
    const item =
      value.kind === 'list' ? value.items.find((one) => one.kind === 'scalar' && one.text.trim() === text) : undefined;
    const hint = 'write a tool (shell), a tool of a server (github:get_*), or an argument (shell:cmd=git *)';
    findings.error('policy-rule', `${key}: ${quoteShort(text)} can't be used: ${wrong}`, item?.at ?? at, hint);
    return [];
  });
}

function wrongWith(rule: string): string | undefined {
  const parsed = parsePermissionRule(rule);
  if (typeof parsed === 'string') return parsed;
  const names = toolArguments().get(parsed.tool.toLowerCase());
  const strange = parsed.args.find(({ name }) => names?.includes(name) === false)?.name;
  return strange === undefined ? undefined : `${parsed.tool} has no argument ${quoteShort(strange)}`;
}

/** Converts a rule: `server:tool` is a tool of a server, and a built-in tool gets its own name. */
function ownRule(text: string): string {
  if (/^(?!mcp:)[^:\s=]+:[^:\s=]+$/.test(text)) return `mcp:${text}`;
  const [name = ''] = text.split(':', 1);
  const tool = toolOf(name);
  return tool === undefined ? text : tool + text.slice(name.length);
}
