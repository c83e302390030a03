import { any, divided, either, flag, list, map, named, names, text } from '../text/forms.js';

export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;

/** JSON Schema keywords by their content: a schema, a list of schemas, a map of schemas. */
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

export const JSON_SCHEMA = either([flag(''), SCHEMA_MAP], 'a JSON Schema', { needed: true });

/** A map with one of these keys is a JSON Schema; any other map is the short form. */
export const SCHEMA_KEYS = ['type', 'properties', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'] as const;

export const SHORT_TYPES = ['string', 'number', 'integer', 'boolean'] as const;

/** The name of a field in the short form. With a trailing `?`, the field is optional. */
export const FIELD_NAME = '^[A-Za-z_][A-Za-z0-9_-]*\\??$';

const short = { ...named('short-schema'), needed: true };
const fields = divided(SCHEMA_KEYS, {
  with: named('json-schema'),
  without: names(short, '', { pattern: FIELD_NAME, min: 1 }),
});

/** The short form of a field: a type, a list with one type, the fields of a map, or a JSON Schema. */
export const SHORT_SCHEMA = either(
  [
    text('', { pattern: `^(?:${SHORT_TYPES.join('|')})$`, from: 'string' }),
    list(short, '', { min: 1, max: 1 }),
    fields,
  ],
  'string, number, integer, boolean, [TYPE], the fields of a map, or a JSON Schema',
  { needed: true },
);

export const STEP_SCHEMA = {
  ...fields,
  blank: false,
  about: 'what the output must be: fields with their types, such as { score: number, note?: string }, or a JSON Schema',
};
