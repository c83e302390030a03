import { isPlainObject, ownValue } from '../../base/json.js';

/** Longer forms are cut: a refused answer shows the whole schema. */
const DEEPEST = 4;

/** Keywords whose meaning is in the words below. Others are shown as they are. */
const SAID = new Set(['type', 'enum', 'minimum', 'maximum', 'items', 'properties', 'required', 'additionalProperties']);
const ASIDE = new Set(['title', 'description', 'examples', 'default', '$schema']);

/** Says what a person types to answer: `a number from 1 to 5`, `{ "approved": true or false, "note"?: text } as JSON`. */
export function wantedAnswer(schema: unknown): string {
  const words = isPlainObject(schema) ? ownValue(schema, 'description') : undefined;
  const known = formOf(schema, DEEPEST);
  // Beside the words and commands with examples, the schema would say nothing more to a person. The words may be a whole sentence.
  if (known === undefined && typeof words === 'string' && words !== '' && hasExamples(schema))
    return words.replace(/^answer\s+/, '');
  const form = known ?? `JSON that matches ${JSON.stringify(schema)}`;
  const isJson = form.startsWith('{') || form.startsWith('[');
  const whole = isJson ? `${form} as JSON` : form;
  return typeof words === 'string' && words !== '' ? `${words} (${whole})` : whole;
}

function hasExamples(schema: unknown): boolean {
  const examples = isPlainObject(schema) ? ownValue(schema, 'examples') : undefined;
  return Array.isArray(examples) && examples.length > 0;
}

/** Undefined if the words would leave something out. */
function formOf(schema: unknown, depth: number): string | undefined {
  if (!isPlainObject(schema) || depth === 0) return undefined;
  if (!Object.keys(schema).every((key) => SAID.has(key) || ASIDE.has(key))) return undefined;
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.map((value: unknown) => JSON.stringify(value)).join(' or ');
  switch (type) {
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'number':
      return `a number${boundsOf(schema)}`;
    case 'integer':
      return `a whole number${boundsOf(schema)}`;
    case 'array':
      return listOf(schema, depth);
    case 'object':
      return objectOf(schema, depth);
    default:
      return undefined;
  }
}

function boundsOf({ minimum, maximum }: Readonly<Record<string, unknown>>): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') return ` from ${minimum} to ${maximum}`;
  if (typeof minimum === 'number') return ` from ${minimum} up`;
  return typeof maximum === 'number' ? ` up to ${maximum}` : '';
}

function listOf({ items }: Readonly<Record<string, unknown>>, depth: number): string | undefined {
  const item = formOf(items, depth - 1);
  return item === undefined ? undefined : `[${item}, ...]`;
}

function objectOf({ properties, required }: Readonly<Record<string, unknown>>, depth: number): string | undefined {
  if (!isPlainObject(properties)) return undefined;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const parts: string[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const form = formOf(schema, depth - 1);
    if (form === undefined) return undefined;
    parts.push(`${JSON.stringify(name)}${needed.includes(name) ? '' : '?'}: ${form}`);
  }
  return parts.length === 0 ? undefined : `{ ${parts.join(', ')} }`;
}
