import { nameOf, type Scope } from './check-scope.js';
import { lacksScope, lowers, NO_SCOPE, raised, securityText, type Security } from './security.js';
import { endorsingSchema, openPart } from './endorsement.js';
import { DECLARED, declarationFaults } from './declarations.js';

/** The hint for a setting that is less careful than the surrounding one. */
export const LOWERED_HINT = 'leave it out, and what is around it holds; a step may be more careful, never less';

/** Checks security: `no-scope` for `research` without a scope, `lowered-security` for a setting less careful than the surrounding one. */
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

/** Checks endorsement by a schema: `endorse-schema` if there is no schema, or if it leaves room for foreign text. */
export function checkEndorsement(scope: Scope): void {
  const { plan, findings } = scope;
  plan.nodes.forEach((node, at) => {
    const found = endorsingSchema(node);
    if (found === undefined) return;
    const place = { node: at, path: 'endorse' };
    if (found.schema === undefined) {
      const hint = 'give the step a schema, or have a person endorse it: endorse: person';
      findings.add('endorse-schema', `${nameOf(scope, at)} is endorsed by a schema and has none`, { ...place, hint });
      return;
    }
    const open = openPart(found.schema);
    if (open === undefined) return;
    const message = `the schema of ${nameOf(scope, at)} endorses nothing: ${open}`;
    const hint = 'allow booleans, numbers with bounds, and values of an enum alone; or write endorse: person';
    findings.add('endorse-schema', message, { ...place, hint });
  });
}

/** Checks declared calls: `bad-host`, `bad-command`, `bad-send`, `unknown-input`; `no-effect` if another workflow calls this one. */
export function checkDeclarations({ plan, place, findings }: Scope): void {
  if (DECLARED.every((key) => plan[key] === undefined)) return;
  const inputs = plan.inputs.map(({ name }) => name);
  for (const { key, index, code, message, hint } of declarationFaults(
    plan,
    plan.openInputs === true ? undefined : inputs,
  ))
    findings.add(code, message, { path: `${key}[${index}]`, hint });
  if (place === '') return;
  const message = `what the called workflow ${plan.name} declares of calls counts only where it is run by itself`;
  findings.add('no-effect', message, { hint: 'declare it in the file that calls it', severity: 'warning' });
}
