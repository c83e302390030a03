import { isPlainObject, ownValue, type JsonObject } from '../base/json.js';
import { refusal } from '../base/problem.js';

/** A schema: JSON Schema as data, or a Standard Schema that can be converted to one, such as those of zod. */
export type SchemaInput = JsonObject | { readonly '~standard': unknown };

/** A schema of zod, Valibot or ArkType, which knows the type of its values. */
export interface TypedSchema {
  readonly '~standard': { readonly types?: { readonly input: unknown } | undefined };
}

/** The type of the values that a schema accepts. */
export type AcceptedBy<Schema extends TypedSchema> = NonNullable<Schema['~standard']['types']>['input'];

/** @throws SkeinError `SKEIN_DEFINITION` if the given schema has none */
export function jsonSchemaOf(schema: unknown, what: string): JsonObject {
  const standard = standardOf(schema);
  if (standard === undefined) {
    if (isPlainObject(schema)) return schema as JsonObject;
    throw refusal(
      'bad-schema',
      `${what} is not a valid schema`,
      'give a JSON Schema, or a schema of zod, Valibot or ArkType',
    );
  }
  const converted = convertedSchema(standard);
  if (converted !== undefined) return converted;
  const hint = 'give its JSON Schema, for instance z.toJSONSchema(schema)';
  throw refusal('bad-schema', `${what} can't be converted to JSON Schema`, hint);
}

/** Returns the JSON Schema of what is under `~standard`; undefined if the library can't convert schemas. */
export function convertedSchema(standard: object): JsonObject | undefined {
  const converter = ownOrInherited(standard, 'jsonSchema');
  const convert = ownOrInherited(converter, 'input');
  if (typeof convert !== 'function') return undefined;
  const converted: unknown = Reflect.apply(convert, converter, [{ target: 'draft-2020-12' }]);
  // Schemas of libraries carry functions and symbols in addition to their data.
  return JSON.parse(JSON.stringify(converted)) as JsonObject;
}

export function standardOf(schema: unknown): object | undefined {
  const standard = ownOrInherited(schema, '~standard');
  return typeof standard === 'object' && standard !== null ? standard : undefined;
}

/** Reads a property of an object or a function, including inherited properties and getters. */
export function ownOrInherited(value: unknown, key: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}

type Validated = { readonly value: unknown } | { readonly findings: readonly string[] };

/** Validates a value with a Standard Schema. A plain JSON Schema returns the value unchanged. */
export async function validated(schema: unknown, value: unknown): Promise<Validated> {
  const standard = standardOf(schema);
  const validate = ownOrInherited(standard, 'validate');
  if (typeof validate !== 'function') return { value };
  const result: unknown = await Reflect.apply(validate, standard, [value]);
  const issues = ownValue(result, 'issues');
  if (!Array.isArray(issues)) return { value: ownValue(result, 'value') };
  return { findings: issues.map(issueText) };
}

/** What a Standard Schema says against a value, after the place in it: `0.qty: Too small`. */
export function issueText(issue: unknown): string {
  return `${placeOf(issue)}${String(ownOrInherited(issue, 'message'))}`;
}

function placeOf(issue: unknown): string {
  const path = ownOrInherited(issue, 'path');
  if (!Array.isArray(path) || path.length === 0) return '';
  const keys = path.map((part: unknown) => String(ownOrInherited(part, 'key') ?? part));
  return `${keys.join('.')}: `;
}
