import { canonicalHash } from '../base/hash.js';
import { present } from '../base/json.js';
import { comparedIn } from '../plan/permission-rule.js';
import type { NarrowPolicy, Policy, ToolPolicy } from '../plan/policy.js';
import { decide, type GuardedCall, type GuardRules } from './decide.js';
import type { Label } from './label.js';

export interface PolicyRules {
  readonly file: string;
  readonly deny: readonly string[];
  /** A call that matches one of `of` must also match one of `allow`. */
  readonly only: readonly { readonly of: readonly string[]; readonly allow: readonly string[] }[];
}

/**
 * Combines policies. Those from outside the project become one, in which the later file wins for `defaultDeny` and for each tool, and lists
 * are united. Those in the project stay separate, so that they can only narrow.
 *
 * @example
 * unitePolicies([{ file: 'mine', widens: true, deny: ['shell'] }, { file: 'run', widens: true, deny: ['fetch'] }])[0]?.deny; // ['shell', 'fetch']
 */
export function unitePolicies(policies: readonly Policy[]): readonly Policy[] {
  const outside = policies.filter(({ widens }) => widens === true);
  const inside = policies.filter(({ widens }) => widens !== true);
  return outside.length === 0 ? inside : [outside.reduce(united), ...inside];
}

function united(a: Policy, b: Policy): Policy {
  return {
    file: a.file === b.file ? a.file : `${a.file}, ${b.file}`,
    widens: true,
    ...present({
      defaultDeny: b.defaultDeny ?? a.defaultDeny,
      allow: both(a.allow, b.allow),
      deny: both(a.deny, b.deny),
      folders: both(a.folders, b.folders),
      domains: both(a.domains, b.domains),
      tools: merged(a.tools, b.tools),
      mcp: a.mcp === undefined ? b.mcp : { ...a.mcp, ...b.mcp },
      project: b.project ?? a.project,
      servers: merged(a.servers, b.servers),
      hosts: both(a.hosts, b.hosts),
      commands: both(a.commands, b.commands),
      sends: both(a.sends, b.sends),
    }),
  };
}

function both<T>(a: readonly T[] | undefined, b: readonly T[] | undefined): readonly T[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return [...new Map([...a, ...b].map((one) => [JSON.stringify(one), one])).values()];
}

function merged<T extends object>(
  a: Readonly<Record<string, T>> | undefined,
  b: Readonly<Record<string, T>> | undefined,
): Readonly<Record<string, T>> | undefined {
  return a === undefined || b === undefined ? (a ?? b) : { ...a, ...b };
}

function patterns(tool: string, list: readonly string[]): readonly string[] {
  return list.map((pattern) => `${tool}:${comparedIn(tool) ?? ''}=${pattern}`);
}

export function rulesOf(policy: NarrowPolicy): PolicyRules {
  const { file, defaultDeny = false, allow = [], deny = [], tools = {}, mcp = {} } = policy;
  const entries = Object.entries(tools);
  const enabled = entries.filter(([, tool]) => tool.enabled !== false).map(([name]) => name);
  const allowed = [...allow, ...enabled];
  return {
    file,
    deny: [
      ...deny,
      ...entries.flatMap(([name, tool]) => (tool.enabled === false ? [name] : patterns(name, tool.deny ?? []))),
      ...(mcp.enabled === false ? ['mcp:*'] : []),
    ],
    only: [
      ...(defaultDeny ? [{ of: ['*'], allow: allowed }] : []),
      ...(mcp.defaultDeny === true ? [{ of: ['mcp:*'], allow: allowed }] : []),
      ...entries.flatMap(([name, tool]) =>
        tool.allow === undefined ? [] : [{ of: [name], allow: patterns(name, tool.allow) }],
      ),
    ],
  };
}

/** The declarations of policies from outside the project. */
export function declarationsOf(policies: readonly Policy[]): GuardRules {
  const [outside] = policies.filter(({ widens }) => widens === true);
  const { hosts, commands, sends, project, servers } = outside ?? {};
  return present({ hosts, commands, sends, project, servers });
}

/** Unites the declarations of several places. If the project is a stranger's, its files' declarations do not count. */
export function unitedRules(rules: GuardRules = {}, policy: GuardRules = {}): GuardRules {
  const { hosts, commands, sends, ...others } = rules;
  const own = policy.project === 'untrusted' ? {} : { hosts, commands, sends };
  return {
    ...others,
    ...policy,
    ...present({
      hosts: both(own.hosts, policy.hosts),
      commands: both(own.commands, policy.commands),
      sends: both(own.sends, policy.sends),
    }),
  };
}

/** Timeout of a tool's calls in milliseconds: the shortest counts. Undefined if there is none. */
export function timeoutOf(policies: readonly NarrowPolicy[], isMeant: (tool: string) => boolean): number | undefined {
  const found = policies.flatMap(({ tools = {} }) =>
    Object.entries(tools).flatMap(([name, { timeoutMs }]: [string, ToolPolicy]) =>
      timeoutMs !== undefined && isMeant(name) ? [timeoutMs] : [],
    ),
  );
  return found.length === 0 ? undefined : Math.min(...found);
}

export function policyDigest(policies: readonly Policy[] = []): string | undefined {
  return policies.length === 0 ? undefined : canonicalHash(policies.map(({ file: _file, ...rules }) => rules));
}

/** The label of what a stranger's workflow names. */
const STRANGERS: Label = { level: 'untrusted', isPrivate: true, sources: ['project'] };

/** Why a name in a stranger's workflow may not be used; undefined if it may. Decided as for a call under untrusted influence. */
export function strangersRefusal(
  call: Pick<GuardedCall, 'effect' | 'tool' | 'input'>,
  policies: readonly Policy[],
): string | undefined {
  const rules = declarationsOf(policies);
  if (rules.project !== 'untrusted') return undefined;
  const { kind, why } = decide({ ...call, seesPrivate: true }, STRANGERS, rules);
  return kind === 'allow' ? undefined : why;
}
