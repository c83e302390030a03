import { canonicalHash } from '../base/hash.js';
import { present } from '../base/json.js';
import { comparedIn } from '../plan/permission-rule.js';
import type { NarrowPolicy, Policy, ToolPolicy } from '../plan/policy.js';
import type { GuardedCall, GuardRules } from './decide.js';
import { decide } from './decide.js';
import type { Label } from './label.js';

/** Rules of a policy in the form of permissions. */
export interface PolicyRules {
  /** As it is shown. */
  readonly file: string;
  readonly deny: readonly string[];
  /** A call that one of `of` speaks of must match one of `allow`. */
  readonly only: readonly { readonly of: readonly string[]; readonly allow: readonly string[] }[];
}

/**
 * Several policies as those that hold: what comes from outside of the project is one, in which the later file wins for `defaultDeny` and for each tool, and lists
 * are united. What lies in the project stays by itself, so that it can only narrow.
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

/** The rules of a policy by which calls are judged. */
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

/** What policies from outside of the project declare. */
export function declarationsOf(policies: readonly Policy[]): GuardRules {
  const [outside] = policies.filter(({ widens }) => widens === true);
  const { hosts, commands, sends, project, servers } = outside ?? {};
  return present({ hosts, commands, sends, project, servers });
}

/** What is declared in several places. Where the project is a stranger's, so is what its files declare. */
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

/** How long a call of a tool may take; undefined: as long as it takes. The shortest counts. */
export function timeoutOf(policies: readonly NarrowPolicy[], isMeant: (tool: string) => boolean): number | undefined {
  const found = policies.flatMap(({ tools = {} }) =>
    Object.entries(tools).flatMap(([name, { timeoutMs }]: [string, ToolPolicy]) =>
      timeoutMs !== undefined && isMeant(name) ? [timeoutMs] : [],
    ),
  );
  return found.length === 0 ? undefined : Math.min(...found);
}

/** What a run is recorded with, so that it is seen when its policies are others. */
export function policyDigest(policies: readonly Policy[] = []): string | undefined {
  return policies.length === 0 ? undefined : canonicalHash(policies.map(({ file: _file, ...rules }) => rules));
}

/** Who names what a workflow of strangers names. */
const STRANGERS: Label = { level: 'untrusted', isPrivate: true, sources: ['project'] };

/**
 * Why what a workflow names may not be used in a project of strangers; undefined: it may. There it is decided about as a call is in which an untrusted text
 * had a say: what the user declares counts.
 *
 * @example
 * strangersRefusal({ effect: 'get', tool: 'a model', input: { url: 'https://evil.example' } }, policies);
 */
export function strangersRefusal(
  call: Pick<GuardedCall, 'effect' | 'tool' | 'input'>,
  policies: readonly Policy[],
): string | undefined {
  const rules = declarationsOf(policies);
  if (rules.project !== 'untrusted') return undefined;
  const { kind, why } = decide({ ...call, seesPrivate: true }, STRANGERS, rules);
  return kind === 'allow' ? undefined : why;
}
