import { SkeinError } from '../../../base/errors.js';
import { isPlainObject, ownValue, type Json, type JsonObject } from '../../../base/json.js';
import { valueText } from '../../../lang/value-text.js';

/** Returns a value by the first name of a reference: `input`, or the id of a step. Undefined if there is none. */
export type Scope = (name: string) => unknown;

/** The name of a composition's input, in references and as a channel. */
export const INPUT = 'input';

const REFERENCE = /\$\{\s*([a-zA-Z_][a-zA-Z0-9_.]*?)\s*\}/g;

/** Returns the first names of all references in a value, in order: `input` for `${input.text}`. */
export function namesIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string')
    return [...value.matchAll(REFERENCE)].map(([, path = '']) => path.split('.', 1)[0] ?? '');
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return isPlainObject(value) ? Object.values(value).flatMap((one) => namesIn(one)) : [];
}

/** Returns the value that a reference refers to. Undefined if there is none. Only own keys of objects are followed. */
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
 * Fills in the references of a value (statement 45). A text that is exactly one reference becomes the value itself; in a longer text the
 * value is inserted as text. Inserted values are not scanned again.
 *
 * @throws SkeinError `SKEIN_TEMPLATE` that names all references without a value
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
