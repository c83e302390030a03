import { nameOf } from './check-scope.js';
import type { Scope } from './check-scope.js';
import { endorsingSchema, openPart } from './endorsement.js';

/** Endorsement by a schema: `endorse-schema` where there is none, or where it leaves room for a text of somebody else's. */
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
