import { isPlainObject, ownValue, type Json } from '../base/json.js';
import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import type { ValueRef } from '../lang/values.js';
import type { InputType } from '../plan/input-types.js';
import type { Findings } from '../text/findings.js';
import { schemaAt } from './schema-paths.js';

export interface NamingKey {
  readonly key: 'over' | 'choices' | 'rounds';
  readonly label: string;
  readonly at: Position;
}

export interface ReferenceForm {
  readonly mark: '$' | '';
  readonly forms: string;
}

/** Characters that no reference contains. */
const EXPRESSION = /[=(+*/<>&|,]/;

/** Reports a text that is not one reference. Problem code: `bad-reference`. */
export function reportNoValue(
  text: string,
  { key, label, at }: NamingKey,
  { mark, forms }: ReferenceForm,
  findings: Findings,
): void {
  const owner = `${key} of ${label}`;
  const bare = withoutBraces(text) ?? text.trim();
  if (!EXPRESSION.test(text)) {
    const wanted = mark === '' && bare !== text.trim() ? `${bare}, without braces` : forms;
    const hint = `write ${wanted}${key === 'choices' ? '; or a list' : ''}`;
    findings.error('bad-reference', `${owner} names no value`, at, hint);
    return;
  }
  const set = `{ id: ID, type: set, values: { ${key}: ${JSON.stringify(`{{= ${bare} }}`)} } }`;
  const hint = `make the value in a step before, ${set}, and write ${key}: ${mark}steps.ID.output.${key}`;
  findings.error('bad-reference', `${owner} is an expression, and takes a reference`, at, hint);
}

/** Applies a trailing `?`: a missing list has no items. */
export function orNoItems(ref: ValueRef, { key }: Pick<NamingKey, 'key'>, isOptional: boolean): ValueRef {
  return key === 'over' && isOptional && ref.absent === undefined ? { ...ref, absent: [] } : ref;
}

/** Returns the content of the double braces around a text, as in `{{ ... }}` and `{{= ... }}`. Undefined if it has no braces. */
export function withoutBraces(text: string): string | undefined {
  return /^\s*\{\{=?([^]*)\}\}\s*$/.exec(text)?.[1]?.trim();
}

/** The JSON Schemas of inputs by type. The value of an untyped input is unknown: its text may be JSON. */
const INPUT_SCHEMAS: Readonly<Record<InputType, Json>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  list: { type: 'array' },
  object: { type: 'object' },
};

export function inputSchema(type: InputType | undefined): Json | undefined {
  return type && INPUT_SCHEMAS[type];
}

export const COUNT_SCHEMAS: Readonly<Record<string, Json>> = { index: { type: 'integer' }, key: { type: 'string' } };

/** Reports a value whose schema excludes a list at this path. Problem code: `not-a-list`. */
export function reportNoList(
  text: string,
  { key, label, at }: NamingKey,
  { schema, path = [] }: { readonly schema: Json | undefined; readonly path: readonly string[] | undefined },
  findings: Findings,
): void {
  const kind = kindAt(schema, path);
  if (kind === undefined) return;
  const message = `${key} of ${label} names ${quoteShort(text.trim())}, which is ${kind}, not a list`;
  const hint = 'name a list: an input with "type: list", or an output whose schema says [string]';
  findings.error('not-a-list', message, at, hint);
}

/** Describes the value at a path if its schema excludes a list. */
function kindAt(schema: unknown, path: readonly string[]): string | undefined {
  const here = schemaAt(schema, path);
  if (!isPlainObject(here)) return undefined;
  const types = [ownValue(here, 'type')].flat().filter((type) => typeof type === 'string');
  if (types.length > 0) return types.includes('array') ? undefined : `of the type ${types.join(' or ')}`;
  const words = ownValue(here, 'enum');
  return Array.isArray(words) && !words.some(Array.isArray) ? 'one of the words of an enum' : undefined;
}
