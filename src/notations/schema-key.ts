import type { Json } from '../base/json.js';
import { quoteShort } from '../lang/value-text.js';
import type { Findings } from '../text/findings.js';
import { describe, toJson, type SourceEntry, type SourceMap, type SourceNode } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';
import { checkSchema, checkUsable } from './check-schema.js';
import { FIELD_NAME, SCHEMA_KEYS, SHORT_TYPES } from './schema-form.js';

/**
 * Reads the key `schema` of a step as a JSON Schema. In the short form, a map of fields with their types, a field is required unless its
 * name ends with `?`, and other fields are not allowed.
 *
 * Problem codes: `bad-schema`, `wrong-type`.
 */
export function readSchema(fields: Fields): Json | undefined {
  const node = fields.node('schema');
  if (node === undefined) return undefined;
  if (node.kind === 'map') {
    const schema = schemaOfMap(node, fields.findings);
    checkUsable(schema, node, fields.findings);
    return schema;
  }
  const message = `schema of ${fields.name} must be a map, not ${describe(node)}`;
  fields.error('wrong-type', 'schema', message, 'write fields with their types, such as { score: number }');
  return undefined;
}

function schemaOfMap(node: SourceMap, findings: Findings): Json {
  if (node.entries.some(({ key }) => (SCHEMA_KEYS as readonly string[]).includes(key))) {
    checkSchema(node, findings);
    return toJson(node);
  }
  if (node.entries.length === 0) {
    const hint = 'name the fields with their types, such as { score: number }';
    findings.error('bad-schema', 'a schema needs at least one field', node.at, hint);
  }
  const properties = new Map<string, Json>();
  const required: string[] = [];
  for (const entry of node.entries) {
    const name = fieldName(entry, properties, findings);
    if (name === undefined) continue;
    properties.set(name, schemaOfShort(entry.value, findings));
    if (!entry.key.endsWith('?')) required.push(name);
  }
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function fieldName(
  { key, at }: SourceEntry,
  known: ReadonlyMap<string, unknown>,
  findings: Findings,
): string | undefined {
  const name = key.replace(/\?$/, '');
  if (!new RegExp(FIELD_NAME).test(key)) {
    const hint = 'use letters, digits, _ and -; a JSON Schema with properties takes any name';
    findings.error('bad-schema', `${quoteShort(key)} can't be the name of a field`, at, hint);
    return undefined;
  }
  if (!known.has(name)) return name;
  findings.error('bad-schema', `the schema has the field ${quoteShort(name)} twice`, at, 'remove one of the two');
  return undefined;
}

function schemaOfShort(node: SourceNode, findings: Findings): Json {
  if (node.kind === 'map') return schemaOfMap(node, findings);
  if (node.kind === 'list') {
    const [item] = node.items;
    if (item !== undefined && node.items.length === 1) return { type: 'array', items: schemaOfShort(item, findings) };
    const hint = 'write the type of its items: [string]; words to choose from are { enum: [one, two] }';
    findings.error('bad-schema', `a list in a schema has one entry, not ${node.items.length}`, node.at, hint);
    return {};
  }
  const word = typeof node.value === 'string' ? SHORT_TYPES.find((type) => type === node.text) : undefined;
  if (word !== undefined) return { type: word };
  const near = typeof node.value === 'string' ? findings.near(node.text, SHORT_TYPES) : undefined;
  const hint = near ?? `write one of: ${SHORT_TYPES.join(', ')}; or [TYPE], { enum: [one, two] }, a map of fields`;
  const seen = typeof node.value === 'string' ? quoteShort(node.text) : describe(node);
  findings.error('bad-schema', `the type of a field can't be ${seen}`, node.at, hint);
  return {};
}
