import { SkeinError } from '../../base/errors.js';
import { isPlainObject, type Json, type JsonObject } from '../../base/json.js';
import { headOf } from '../tools/text.js';

const MAX_DESCRIPTION = 4_096;
const MAX_SCHEMA_CHARS = 64 * 1024;
const MAX_SCHEMA_DEPTH = 32;

/** Characters invisible to a person but not to a model: controls, directions, zero width, variation selectors, tags. */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu;

const SCHEMAS_BY_NAME = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords with regular expressions, which a validator would run on the main thread, where one can block it. */
const EXPRESSIONS = new Set(['pattern', 'patternProperties']);

/** Cleans a server's text about itself (threat A9): removes invisible characters and limits the length. */
export function cleanText(text: string): string {
  return headOf(text.replace(INVISIBLE, ''), MAX_DESCRIPTION);
}

/**
 * Makes an input schema of a server safe to use here: limits its size, cleans its texts, and removes regular expressions (`pattern` moves
 * into the description; the server checks it anyway).
 *
 * @throws SkeinError `SKEIN_MCP` for schemas that are not object schemas, too large or too deep
 */
export function cleanSchema(schema: unknown): JsonObject {
  if (!isPlainObject(schema) || schema.type !== 'object') {
    throw new SkeinError('SKEIN_MCP', 'the input schema does not describe an object');
  }
  checkDepth(schema, 0);
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) {
    throw new SkeinError('SKEIN_MCP', `the input schema is larger than ${MAX_SCHEMA_CHARS / 1024} KiB`);
  }
  return cleanSchemaObject(schema);
}

function checkDepth(value: unknown, depth: number): void {
  if (depth > MAX_SCHEMA_DEPTH) throw new SkeinError('SKEIN_MCP', 'the input schema is nested too deeply');
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) checkDepth(inner, depth + 1);
}

function cleanSchemaObject(schema: Record<string, unknown>): JsonObject {
  const result: Record<string, Json> = {};
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    if (key === '__proto__' || EXPRESSIONS.has(key)) continue;
    if (SCHEMAS_BY_NAME.has(key) && isPlainObject(value)) result[key] = cleanSchemas(value);
    else result[key] = cleanValue(value);
  }
  if (typeof schema.pattern === 'string') {
    const before = typeof result.description === 'string' ? `${result.description} ` : '';
    result.description = cleanText(`${before}(pattern: ${schema.pattern})`);
  }
  return result;
}

function cleanSchemas(schemas: Record<string, unknown>): JsonObject {
  const result: Record<string, Json> = {};
  for (const name of Object.keys(schemas)) if (name !== '__proto__') result[name] = cleanValue(schemas[name]);
  return result;
}

function cleanValue(value: unknown): Json {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(cleanValue);
  return isPlainObject(value) ? cleanSchemaObject(value) : null;
}
