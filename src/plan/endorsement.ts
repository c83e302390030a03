import { isPlainObject, type Json } from '../base/json.js';
import { any, object, wordOr, type Form } from './form.js';

/**
 * Who makes a node's result vetted although untrusted text influenced it. `person`: someone who has seen the value. `schema`: the schema
 * of an agent's answer, which only allows what its author has listed; other nodes have a schema of their own. Private values stay private.
 */
export type Endorsement = 'person' | 'schema' | { readonly schema: Json };

export const ENDORSEMENT: Form<Endorsement> = wordOr(
  ['person', 'schema'],
  object<{ readonly schema: Json }>({ schema: any<Json>() }),
);

/** The fields of a node that decide who endorses its result. */
interface Endorsed {
  readonly endorse?: Endorsement;
  /** Only of an agent. */
  readonly agent?: { readonly output?: { readonly schema: Json } };
}

/** Returns the schema that endorses a node's result; undefined if a person does, or none. */
export function endorsingSchema({ endorse, agent }: Endorsed): { readonly schema: Json | undefined } | undefined {
  if (endorse === undefined || endorse === 'person') return undefined;
  if (endorse !== 'schema') return endorse;
  return { schema: agent?.output?.schema };
}

export function endorsedText(endorse: Endorsement): string {
  return `endorsed by ${endorse === 'person' ? 'a person' : 'its schema'}`;
}

const MOST_ITEMS = 100;

/**
 * Returns where a JSON Schema allows more than booleans, bounded numbers and values listed by its author; undefined if nowhere.
 *
 * @example
 * openPart({ type: 'object', properties: { note: { type: 'string' } }, additionalProperties: false }); // 'note may be any text'
 */
export function openPart(schema: Json | undefined, place = 'the value'): string | undefined {
  if (schema === false) return undefined;
  if (!isPlainObject(schema)) return `${place} may be anything`;
  // Older drafts ignore siblings of a reference, and do not know `const`.
  const { $schema: dialect } = schema;
  if (typeof dialect === 'string' && dialect.includes('draft-0'))
    return `${place} has a schema of an older draft: leave out $schema`;
  if (Object.hasOwn(schema, 'const') || Object.hasOwn(schema, 'enum')) return undefined;
  const { allOf, anyOf, oneOf, type } = schema as Readonly<Record<string, Json | undefined>>;
  const some = [anyOf, oneOf].find((list) => Array.isArray(list));
  if (Array.isArray(some)) return firstOf(some.map((one: Json) => openPart(one, place)));
  if (type !== undefined) return firstOf([type].flat().map((one) => openType(one, schema, place)));
  const narrow = Array.isArray(allOf) && allOf.some((one: Json) => openPart(one, place) === undefined);
  return narrow ? undefined : `${place} may be anything`;
}

function openType(type: unknown, schema: Readonly<Record<string, unknown>>, place: string): string | undefined {
  switch (type) {
    case 'boolean':
    case 'null':
      return undefined;
    case 'integer':
    case 'number':
      return isBounded(schema) ? undefined : `${place} may be any number: give it a minimum and a maximum`;
    case 'array':
      return openList(schema, place);
    case 'object':
      return openObject(schema, place);
    default:
      return `${place} may be any text: list what it may be in an enum`;
  }
}

function isBounded(schema: Readonly<Record<string, unknown>>): boolean {
  const has = (...keys: readonly string[]): boolean => keys.some((key) => typeof schema[key] === 'number');
  return has('minimum', 'exclusiveMinimum') && has('maximum', 'exclusiveMaximum');
}

function openList(
  { items, prefixItems = [], maxItems }: Readonly<Record<string, unknown>>,
  place: string,
): string | undefined {
  if (typeof maxItems !== 'number' || maxItems > MOST_ITEMS)
    return `${place} may have any number of items: give it maxItems, ${MOST_ITEMS} at most`;
  const each = [...[prefixItems].flat(), items] as readonly (Json | undefined)[];
  return firstOf(each.map((one) => openPart(one, `an item of ${place}`)));
}

function openObject(schema: Readonly<Record<string, unknown>>, place: string): string | undefined {
  const { properties = {}, additionalProperties, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined)
    return `${place} may have keys of any name: say additionalProperties: false`;
  return firstOf(Object.entries(properties as object).map(([key, inner]) => openPart(inner as Json, key)));
}

function firstOf(found: readonly (string | undefined)[]): string | undefined {
  return found.find((one) => one !== undefined);
}
