import { isDeclaredHost } from '../../guard/decide.js';
import { rulesOf, timeoutOf } from '../../guard/policy.js';
import { matchesWildcard } from '../../lang/wildcard.js';
import type { NarrowPolicy } from '../../plan/policy.js';
import { builtInOf } from '../../plan/tool-names.js';
import { permissionCheck, type WantedCall } from './permissions.js';

export interface PolicyCheck {
  /** Returns why a call is forbidden; undefined if it is allowed. */
  readonly refusal: (call: WantedCall) => string | undefined;
  /** Timeout of a call in milliseconds. */
  readonly timeout: (call: WantedCall) => number | undefined;
}

export const NO_POLICY: PolicyCheck = { refusal: () => undefined, timeout: () => undefined };

/**
 * Creates the check of policies. It depends only on them, the call and the working directory. A call must pass all; in each, a denial wins.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for rules that cannot be used
 */
export function policyCheck(policies: readonly NarrowPolicy[], known: { agent: string; cwd: string }): PolicyCheck {
  if (policies.length === 0) return NO_POLICY;
  const checks = policies.map((policy) => onePolicy(policy, known));
  return {
    refusal(call) {
      for (const check of checks) {
        const why = check(call);
        if (why !== undefined) return why;
      }
      return undefined;
    },
    timeout: (call) => timeoutOf(policies, (tool) => ruleOf(tool, known)(call)),
  };
}

type Known = Parameters<typeof permissionCheck>[1];

function onePolicy(policy: NarrowPolicy, known: Known): (call: WantedCall) => string | undefined {
  const { file, deny, only } = rulesOf(policy);
  const denies = permissionCheck({ deny }, known);
  const whitelists = only.map(({ of, allow }) => ({
    judges: permissionCheck({ deny: of }, known),
    allows: permissionCheck({ allow }, known),
  }));
  return (call) => {
    const verdict = denies(call);
    if (verdict.kind === 'deny') return `the policy ${file} denies it by the rule ${JSON.stringify(verdict.rule)}`;
    const isLeftOut = whitelists.some(
      ({ judges, allows }) => judges(call).kind === 'deny' && allows(call).kind !== 'allow',
    );
    return isLeftOut ? `the policy ${file} denies what it does not allow` : undefined;
  };
}

function ruleOf(tool: string, known: Known): (call: WantedCall) => boolean {
  const check = permissionCheck({ deny: [tool] }, known);
  return (call) => check(call).kind === 'deny';
}

/** Why a server may not be started or reached; undefined if some of its tools are allowed. `url`: the address of a remote one. */
export function serverRefusal(policies: readonly NarrowPolicy[], server: string, url?: string): string | undefined {
  for (const policy of policies) {
    const { file, deny, only } = rulesOf(policy);
    const denied = deny.some((rule) => speaksOfAll(rule, server));
    const isLeftOut = only.some(
      ({ of, allow }) => of.some((rule) => speaksOfAll(rule, server)) && !allow.some((rule) => speaksOf(rule, server)),
    );
    if (denied || isLeftOut) return `the policy ${file} allows none of its tools`;
  }
  return url === undefined ? undefined : domainRefusal(policies, url);
}

/** Why an address may not be reached; undefined if it may. */
export function domainRefusal(policies: readonly NarrowPolicy[], url: string): string | undefined {
  const host = URL.canParse(url) ? new URL(url).host : undefined;
  const policy = policies.find(({ domains }) => domains !== undefined && !isDeclaredHost(host ?? url, domains));
  return policy && `the policy ${policy.file} does not list ${host ?? 'its address'} in domains`;
}

/** Whether a rule covers each tool of a server. */
function speaksOfAll(rule: string, server: string): boolean {
  if (rule === '*') return true;
  const [kind, name = '', tool = '*'] = rule.toLowerCase().split(':');
  return kind === 'mcp' && tool === '*' && matchesWildcard(name, server.toLowerCase());
}

/** Whether a rule allows some tool of a server. */
function speaksOf(rule: string, server: string): boolean {
  const [kind = '', name] = rule.split(':');
  if (kind === 'mcp') return name !== undefined && matchesWildcard(name, server);
  return builtInOf(kind) === undefined;
}
