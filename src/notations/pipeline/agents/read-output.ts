import { isPlainObject, present } from '../../../base/json.js';
import type { StructuredOutput } from '../../../plan/agent-spec.js';
import { describe, toJson } from '../../../text/nodes.js';
import type { Fields } from '../../../text/shape.js';
import { checkSchema } from '../../check-schema.js';
import { STRUCTURED_OUTPUT } from './keys.js';

/**
 * Reads the key `structured_output` of an agent. Its description goes into the schema; `strict` changes nothing, since answers are always
 * checked. Problem codes: `bad-schema`, and those of the shape readers.
 */
export function readOutput(agent: Fields): StructuredOutput | undefined {
  const fields = agent.fields('structured_output', STRUCTURED_OUTPUT);
  if (fields === undefined) return undefined;
  const name = fields.text('name');
  const description = fields.text('description');
  fields.flag('strict');
  const node = fields.node('schema');
  if (node === undefined) {
    const hint = 'add schema: { type: object, ... }';
    agent.findings.error('bad-schema', 'structured_output needs a schema', fields.at, hint);
    return undefined;
  }
  if (node.kind !== 'map') {
    const message = `schema of structured_output must be a map, not ${describe(node)}`;
    const hint = 'write a JSON Schema, such as { type: object, properties: { ... } }';
    fields.error('wrong-type', 'schema', message, hint);
    return undefined;
  }
  checkSchema(node, agent.findings);
  const schema = toJson(node);
  const described = description !== undefined && isPlainObject(schema) && !Object.hasOwn(schema, 'description');
  return present({ name, schema: described ? { ...schema, description } : schema });
}
