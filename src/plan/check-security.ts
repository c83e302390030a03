import { nameOf } from './check-scope.js';
import type { Scope } from './check-scope.js';
import { lacksScope, lowers, NO_SCOPE, raised, securityText } from './security.js';
import type { Security } from './security.js';

/** What to do about what is less careful than what it stands in. */
export const LOWERED_HINT = 'leave it out, and what is around it holds; a step may be more careful, never less';

/** Security: `no-scope` for `research` that does not say into what, `lowered-security` for what is less careful than what it stands in. */
export function checkSecurity(scope: Scope): void {
  const { plan, security: around, findings } = scope;
  if (plan.security !== undefined && lacksScope(plan.security))
    findings.add('no-scope', NO_SCOPE, { path: 'security' });
  const outside = raised(around, plan.security);
  plan.nodes.forEach((node, at) => {
    const { security: own } = node;
    const name = nameOf(scope, at);
    const lowered = (what: string, said: Security, held: Security, path: string): void => {
      const message = `${what} has the security ${securityText(said)} where ${securityText(held)} holds`;
      findings.add('lowered-security', message, { node: at, path, hint: LOWERED_HINT });
    };
    if (own !== undefined && lacksScope(own))
      findings.add('no-scope', `${name}: ${NO_SCOPE}`, { node: at, path: 'security' });
    if (own !== undefined && outside !== undefined && lowers(own, outside)) lowered(name, own, outside, 'security');
    const held = raised(outside, own);
    const inside = 'plan' in node ? node.plan.security : undefined;
    if (inside !== undefined && held !== undefined && lowers(inside, held))
      lowered(`what ${name} contains`, inside, held, 'plan.security');
  });
}
