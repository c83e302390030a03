import { any, either, flag, list, map, named, names, text } from '../../../text/forms.js';

/** The types of JSON Schema. */
export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;

/** Keywords of JSON Schema by what stands under them: a schema, a list of schemas, a map of schemas. */
export const SCHEMAS = [
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
] as const;
export const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
export const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] as const;

const schema = { ...named('json-schema'), filled: true };
const type = text('', { pattern: `^(?:${TYPES.join('|')})$` });

function all<T>(keys: readonly string[], form: T): Readonly<Record<string, T>> {
  return Object.fromEntries(keys.map((key) => [key, form]));
}

/** A JSON Schema that is a map, as far as its form is checked. */
export const SCHEMA_MAP = map(
  {
    type: either([type, list(type, '')], 'what the value is'),
    ...all(SCHEMAS, schema),
    ...all(LISTS, list(schema, '', { filled: true })),
    ...all(MAPS, names(schema, '', { filled: true })),
    enum: list(any(''), 'the values that it may be', { filled: true }),
    required: list(any(''), 'the properties that must be there', { filled: true }),
  },
  'a JSON Schema',
  { open: true },
);

/** Any JSON Schema. */
export const JSON_SCHEMA = either([flag(''), SCHEMA_MAP], 'a JSON Schema', { needed: true });
