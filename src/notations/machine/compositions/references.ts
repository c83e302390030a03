import { SkeinError } from '../../../base/errors.js';
import { isPlainObject, ownValue } from '../../../base/json.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { valueText } from '../../../lang/value-text.js';

/** Finds a value by the name that a reference begins with: `input`, or the id of a step; undefined where there is none. */
export type Scope = (name: string) => unknown;

/** What the input of a composition is called, in references and as a channel. */
export const INPUT = 'input';

const REFERENCE = /\$\{\s*([a-zA-Z_][a-zA-Z0-9_.]*?)\s*\}/g;

/**
 * The names that references of a value begin with, in their order.
 *
 * @example
 * namesIn({ text: '${input.text}', about: 'of ${classify.output.type}' }); // ['input', 'classify']
 */
export function namesIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string')
    return [...value.matchAll(REFERENCE)].map(([, path = '']) => path.split('.', 1)[0] ?? '');
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return isPlainObject(value) ? Object.values(value).flatMap((one) => namesIn(one)) : [];
}

/**
 * What a path of a reference leads to; undefined where it leads nowhere. Only own keys of objects are followed.
 *
 * @example
 * valueAt('${input.text}', (name) => (name === 'input' ? { text: 'Hi' } : undefined)); // 'Hi'
 */
export function valueAt(reference: string, scope: Scope): unknown {
  const [whole, path] = [...reference.matchAll(REFERENCE)][0] ?? [];
  return path === undefined || whole !== reference.trim() ? undefined : follow(path, scope);
}

function follow(path: string, scope: Scope): unknown {
  const [name = '', ...keys] = path.split('.');
  let here = scope(name);
  for (const key of keys) here = isPlainObject(here) ? ownValue(here, key) : undefined;
  return here;
}

/**
 * A value with its references filled in (statement 45): a text that is one reference becomes the value as it is, in a longer text the value is written. What is
 * filled in is never looked at again.
 *
 * @throws SkeinError `SKEIN_TEMPLATE` that names all references that lead nowhere
 */
export function filledIn(value: Json, scope: Scope): Json {
  const missing: string[] = [];
  const filled = fill(value, scope, missing);
  if (missing.length === 0) return filled;
  const what = missing.length === 1 ? 'a reference leads' : 'references lead';
  throw new SkeinError('SKEIN_TEMPLATE', `${what} nowhere: ${missing.join(', ')}`, {
    hint: 'the step may have been skipped, or its output has another form: give it an output_schema',
    details: { missing },
  });
}

function fill(value: Json, scope: Scope, missing: string[]): Json {
  if (typeof value === 'string') return fillText(value, scope, missing);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((one) => fill(one, scope, missing));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, scope, missing)]));
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}

function fillText(text: string, scope: Scope, missing: string[]): Json {
  const read = (path: string, written: string): unknown => {
    const found = follow(path, scope);
    if (found === undefined) missing.push(written);
    return found;
  };
  const [first] = text.matchAll(REFERENCE);
  if (first?.[0] === text) return (read(first[1] ?? '', text) ?? null) as Json;
  return text.replaceAll(REFERENCE, (written: string, path: string) => valueText(read(path, written)));
}
