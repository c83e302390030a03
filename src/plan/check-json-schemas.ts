import type { Json } from '../base/json.js';
import { schemaFault } from '../lang/schema-check.js';
import { nameOf, type Scope } from './check-scope.js';
import type { PlanNode } from './plan.js';

/** What to do about a schema that can't be used. */
export const USABLE = 'a reference leads to a part of the same schema, and bounds are numbers without quotes';

/** Reports a JSON Schema by which no result can be checked: `bad-schema`. Otherwise a model would be asked, in vain, for another answer. */
export function checkJsonSchemas(scope: Scope): void {
  scope.plan.nodes.forEach((node, at) => {
    const { schema, path } = resultSchema(node);
    const fault = schema === undefined ? undefined : schemaFault(schema);
    if (fault === undefined) return;
    const message = `the schema of ${nameOf(scope, at)} can't be used: ${fault}`;
    scope.findings.add('bad-schema', message, { node: at, path, hint: USABLE });
  });
}

/** The schema that the result of a node must match, and its place in the node. */
function resultSchema(node: PlanNode): { readonly schema?: Json | undefined; readonly path: string } {
  switch (node.kind) {
    case 'agent':
      return { schema: node.agent.output?.schema, path: 'agent.output.schema' };
    case 'task':
      return { schema: node.tool?.schema, path: 'tool.schema' };
    case 'ask':
    case 'wait':
      return { schema: node.schema, path: 'schema' };
    case 'call':
    case 'map':
    case 'loop':
    case 'pass':
    case 'set':
    case 'end':
      return { path: '' };
  }
}
