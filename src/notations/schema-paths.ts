import { isPlainObject, ownValue } from '../base/json.js';
import { quoteShort } from '../lang/value-text.js';
import type { Findings } from '../text/findings.js';

export interface PathFault {
  readonly message: string;
  readonly hint: string | undefined;
}

/**
 * Follows a path through a JSON Schema. Returns a fault if no value of the schema can have the path. What a schema leaves open is not a
 * fault, except for further keys of an object whose properties it lists.
 */
export function pathFault(schema: unknown, path: readonly string[], findings: Findings): PathFault | undefined {
  const { here, key } = follow(schema, path);
  return key === undefined || !isPlainObject(here) || isOpen(here) ? undefined : missing(here, key, findings);
}

/** Returns the JSON Schema of the value at a path. Undefined if the schema does not describe it. */
export function schemaAt(schema: unknown, path: readonly string[]): unknown {
  const { here, key } = follow(schema, path);
  return key === undefined ? here : undefined;
}

/** Follows a path as far as the schema describes it. `key` is the first name it does not describe. */
function follow(schema: unknown, path: readonly string[]): { readonly here: unknown; readonly key?: string } {
  let here = schema;
  for (const key of path) {
    if (!isPlainObject(here) || isOpen(here)) return { here, key };
    const types = [ownValue(here, 'type')].flat();
    const properties = ownValue(here, 'properties');
    const items = ownValue(here, 'items');
    if (isPlainObject(properties) && Object.hasOwn(properties, key)) here = properties[key];
    else if (/^\d+$/.test(key) && (types.includes('array') || items !== undefined)) here = items;
    else return { here, key };
  }
  return { here };
}

/** Keywords of schemas that may allow more than their own keywords say. */
const OPEN_KEYWORDS = ['$ref', 'anyOf', 'oneOf', 'allOf', 'patternProperties', 'if', 'prefixItems', '$dynamicRef'];

function isOpen(schema: object): boolean {
  const additional = ownValue(schema, 'additionalProperties');
  if (additional !== undefined && additional !== false) return true;
  return OPEN_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword));
}

function missing(schema: object, key: string, findings: Findings): PathFault | undefined {
  const properties = ownValue(schema, 'properties');
  if (isPlainObject(properties)) {
    const names = Object.keys(properties);
    const known = names.length === 0 ? 'it has no properties' : `its properties are: ${names.slice(0, 8).join(', ')}`;
    const message = `the schema has no property ${quoteShort(key)}`;
    return { message, hint: findings.near(key, names) ?? known };
  }
  const types = [ownValue(schema, 'type')].flat().filter((type) => typeof type === 'string');
  if (types.length === 0 || types.includes('object')) return undefined;
  const message = `${quoteShort(key)} is looked for in a value of the type ${types.join(' or ')}`;
  return { message, hint: types.includes('array') ? 'write the index of an item: [0]' : 'leave the path out' };
}
