import { Validator } from '@cfworker/json-schema';
import type { SchemaDraft } from '@cfworker/json-schema';
import { cloneData, isPlainObject } from '../base/json.js';

/** At most so many findings are shown. */
const SHOWN = 10;

/** Keywords whose findings only say that something below them failed. */
const WRAPPERS = new Set([
  'properties',
  'items',
  'prefixItems',
  '$ref',
  'allOf',
  'additionalItems',
  'patternProperties',
  'if',
]);

/**
 * What is wrong with a value by a JSON Schema, as short lines such as `/files/0: must be string`; empty when it matches.
 * The schema is interpreted, never compiled, so one from a foreign server stays data.
 *
 * @example
 * schemaFindings({ type: 'object', required: ['path'] }, {}); // ['/: Instance does not have required property "path".']
 */
export function schemaFindings(schema: unknown, value: unknown): readonly string[] {
  if (typeof schema !== 'boolean' && !isPlainObject(schema)) return ['the schema is no JSON Schema'];
  try {
    // The validator writes into the schema, and those of plans are frozen.
    const validator = new Validator(cloneData(schema), draftOf(schema), false);
    const result = validator.validate(value);
    if (result.valid) return [];
    const specific = result.errors.filter((error) => !WRAPPERS.has(error.keyword));
    const shown = specific.length === 0 ? result.errors : specific;
    const lines = shown.map((error) => `${place(error.instanceLocation)}: ${error.error}`);
    return [...new Set(lines)].slice(0, SHOWN);
  } catch (error) {
    return [`the schema can't be used: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function place(location: string): string {
  return location.replace(/^#/, '') || '/';
}

function draftOf(schema: unknown): SchemaDraft {
  const dialect = isPlainObject(schema) && typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  if (dialect.includes('draft-07') || dialect.includes('draft-06')) return '7';
  if (dialect.includes('draft-04')) return '4';
  return dialect.includes('2019-09') ? '2019-09' : '2020-12';
}
