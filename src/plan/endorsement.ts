import { isPlainObject } from '../base/json.js';
import type { Json } from '../base/json.js';
import { any, object, wordOr } from './form.js';
import type { Form } from './form.js';

/**
 * Who makes vetted what a node gives although an untrusted text had a say in it. `person`: somebody who has seen the value. `schema`: that of the answer of an
 * agent, which leaves nothing to say but what its author has listed; another node has one of its own. What is private stays so.
 */
export type Endorsement = 'person' | 'schema' | { readonly schema: Json };

/** The form of an endorsement. */
export const ENDORSEMENT: Form<Endorsement> = wordOr(
  ['person', 'schema'],
  object<{ readonly schema: Json }>({ schema: any<Json>() }),
);

/** What of a node says who endorses what it gives. */
interface Endorsed {
  readonly endorse?: Endorsement;
  /** Of an agent. */
  readonly agent?: { readonly output?: { readonly schema: Json } };
}

/** The schema that endorses what a node gives; undefined: a person does, or nobody. */
export function endorsingSchema({ endorse, agent }: Endorsed): { readonly schema: Json | undefined } | undefined {
  if (endorse === undefined || endorse === 'person') return undefined;
  if (endorse !== 'schema') return endorse;
  return { schema: agent?.output?.schema };
}

/** An endorsement in words. */
export function endorsedText(endorse: Endorsement): string {
  return `endorsed by ${endorse === 'person' ? 'a person' : 'its schema'}`;
}

/** Items of a list, at most. */
const MOST_ITEMS = 100;

/**
 * Where a JSON Schema lets more through than booleans, bounded numbers and values that its author has listed; undefined: nowhere.
 *
 * @example
 * openPart({ type: 'object', properties: { note: { type: 'string' } }, additionalProperties: false }); // 'note may be any text'
 */
export function openPart(schema: Json | undefined, place = 'the value'): string | undefined {
  if (schema === false) return undefined;
  if (!isPlainObject(schema)) return `${place} may be anything`;
  // There, what stands beside a reference says nothing, and older ones know no `const`.
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
