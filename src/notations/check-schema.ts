import type { Json } from '../base/json.js';
import { schemaFault } from '../lang/schema-check.js';
import { quoteShort } from '../lang/value-text.js';
import { USABLE } from '../plan/check-schemas.js';
import type { Findings } from '../text/findings.js';
import { describe, entryOf, seen, type SourceEntry, type SourceMap, type SourceNode } from '../text/nodes.js';
import { LISTS, MAPS, SCHEMAS, TYPES } from './schema-form.js';

/** Reports mistakes in a JSON Schema, such as required properties that can't exist. Problem code: `bad-schema`. */
export function checkSchema(node: SourceNode, findings: Findings): void {
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return;
  if (node.kind !== 'map') {
    findings.error('bad-schema', `a schema must be a map, not ${describe(node)}`, node.at, 'such as { type: string }');
    return;
  }
  for (const entry of node.entries) checkKeyword(entry, findings);
  checkRequired(node, findings);
}

/** Reports a schema that can't be used, such as one with a reference that leads nowhere. Problem code: `bad-schema`. */
export function checkUsable(schema: Json, node: SourceMap, findings: Findings): void {
  const fault = schemaFault(schema);
  if (fault !== undefined) findings.error('bad-schema', `the schema can't be used: ${fault}`, node.at, USABLE);
}

function isOneOf(words: readonly string[], word: string): boolean {
  return words.includes(word);
}

function checkKeyword({ key, value }: SourceEntry, findings: Findings): void {
  const wrong = (wanted: string): void => {
    findings.error('bad-schema', `${key} of a schema must be ${wanted}, not ${describe(value)}`, value.at);
  };
  if (key === 'type') checkType(value, findings);
  else if (isOneOf(SCHEMAS, key)) checkSchema(value, findings);
  else if (isOneOf(LISTS, key)) {
    if (value.kind === 'list') for (const item of value.items) checkSchema(item, findings);
    else wrong('a list of schemas');
  } else if (isOneOf(MAPS, key)) {
    if (value.kind === 'map') for (const entry of value.entries) checkSchema(entry.value, findings);
    else wrong('a map of schemas');
  } else if (key === 'enum' && value.kind !== 'list') wrong('a list');
}

function checkType(node: SourceNode, findings: Findings): void {
  for (const item of node.kind === 'list' ? node.items : [node]) {
    const name = item.kind === 'scalar' ? (item.value === null && item.text === '' ? 'null' : item.text) : '';
    if (isOneOf(TYPES, name)) continue;
    const hint = findings.near(name, TYPES) ?? `one of: ${TYPES.join(', ')}`;
    findings.error('bad-schema', `type of a schema can't be ${seen(item)}`, item.at, hint);
  }
}

function checkRequired(node: SourceNode, findings: Findings): void {
  const required = entryOf(node, 'required')?.value;
  if (required === undefined) return;
  if (required.kind !== 'list') {
    const message = `required of a schema must be a list of names, not ${describe(required)}`;
    findings.error('bad-schema', message, required.at, 'write it next to properties: required: [name]');
    return;
  }
  const properties = entryOf(node, 'properties')?.value;
  const closed = entryOf(node, 'additionalProperties')?.value;
  const names = properties?.kind === 'map' ? properties.entries.map((entry) => entry.key) : [];
  const isClosed = closed?.kind === 'scalar' && closed.value === false;
  for (const item of required.items) {
    const name = item.kind === 'scalar' ? item.text : '';
    if (!isClosed || names.includes(name) || entryOf(node, 'patternProperties') !== undefined) continue;
    const hint = findings.near(name, names) ?? `its properties are: ${names.join(', ')}`;
    findings.error('bad-schema', `the schema requires ${quoteShort(name)}, which it does not allow`, item.at, hint);
  }
}
