import { isPlainObject } from '../base/json.js';
import { SchemaError, type Schema } from './json-schema/context.js';
import { Evaluator } from './json-schema/evaluate.js';
import { faultOf } from './json-schema/faults.js';
import { SchemaIndex, type Dialect } from './json-schema/references.js';
import { PatternError, patternMatcher } from './pattern/matcher.js';

/**
 * What is wrong with a value by a JSON Schema, as short lines such as `/files/0: must be string, not number`; empty when it matches, ten at most.
 * The schema is interpreted, never compiled, so one from a foreign server stays data, and what it may take is bounded: one that takes more is a
 * finding too.
 */
export function schemaFindings(schema: unknown, value: unknown): readonly string[] {
  if (typeof schema !== 'boolean' && !isPlainObject(schema)) return ['the schema is not a valid JSON Schema'];
  try {
    return new Evaluator(indexOf(schema)).run(value);
  } catch (error) {
    if (error instanceof SchemaError) return [`the schema can't be used: ${error.message}`];
    throw error;
  }
}

/** Why no value can be checked by a JSON Schema, or only in part; undefined if it can be used. */
export function schemaFault(schema: unknown): string | undefined {
  if (typeof schema !== 'boolean' && !isPlainObject(schema)) return 'it is not a map';
  try {
    return faultOf(indexOf(schema));
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

/** Whether a text contains a match, or why this can't be determined. */
export type PatternVerdict = { readonly matches: boolean } | { readonly fault: string };

/**
 * Whether a text contains a match of a regular expression as JSON Schemas have them, in time linear in the text: what takes too long is a fault.
 */
export function matchPattern(pattern: string, text: string, ignoreCase = false): PatternVerdict {
  try {
    const matcher = patternMatcher(pattern, { ignoreCase });
    const matches = matcher.test(text);
    return matcher.gaveUp ? { fault: 'that would take too long' } : { matches };
  } catch (error) {
    if (error instanceof PatternError) return { fault: error.message };
    throw error;
  }
}

/** A tool's schema checks each of its calls. */
const indexes = new WeakMap<object, SchemaIndex>();

function indexOf(schema: Schema): SchemaIndex {
  const known = typeof schema === 'object' ? indexes.get(schema) : undefined;
  if (known !== undefined) return known;
  const index = new SchemaIndex(schema, dialectOf(schema));
  if (typeof schema === 'object') indexes.set(schema, index);
  return index;
}

function dialectOf(schema: unknown): Dialect {
  const dialect = isPlainObject(schema) && typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  if (dialect.includes('draft-07') || dialect.includes('draft-06')) return 'draft-07';
  if (dialect.includes('draft-04')) return 'draft-04';
  return dialect.includes('2019-09') ? '2019-09' : '2020-12';
}
