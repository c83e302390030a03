import { canonicalJson } from '../base/hash.js';
import { isPlainObject, isRounded, jsonIn, type Json } from '../base/json.js';
import type { Position, Problem } from '../base/problem.js';
import { suggest } from '../base/suggest.js';
import { numberOf, truthOf } from '../lang/coerce.js';
import { kindText, quoteShort } from '../lang/value-text.js';

export const INPUT_TYPES = ['text', 'number', 'boolean', 'list', 'object'] as const satisfies readonly InputType[];

/** Returns whether values of a type have parts that references may address. */
export function isComposite(type: InputType | undefined): boolean {
  return type === 'list' || type === 'object';
}

export type InputForm = Pick<InputSpec, 'type' | 'enum'>;

export type TypedValue = { readonly value: unknown } | { readonly why: string; readonly hint?: string };

/**
 * Converts a value to the declared type of its input. Texts, as from a command line, become numbers and booleans, and are parsed as JSON
 * for lists and objects; numbers and booleans become text. Without a type, values stay as they are.
 *
 * @example
 * inputValue({ type: 'number' }, '3'); // { value: 3 }
 */
export function inputValue(form: InputForm, given: unknown): TypedValue {
  const typed = form.type === undefined ? { value: given } : typedValue(form.type, given);
  if ('why' in typed || form.enum === undefined || form.enum.some((one) => isSame(one, typed.value))) return typed;
  const words = form.enum.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  const near = typeof typed.value === 'string' ? suggest(typed.value, words) : undefined;
  const why = `must be one of ${words.join(', ')}, not ${shown(typed.value)}`;
  return near === undefined ? { why } : { why, hint: `did you mean ${JSON.stringify(near)}?` };
}

function isSame(one: Json, value: unknown): boolean {
  return one === value || (typeof one === 'object' && canonicalJson(one) === canonicalJson(value));
}

function typedValue(type: InputType, given: unknown): TypedValue {
  const value = typeof given === 'string' ? ofText(type, given) : type === 'text' ? textOf(given) : given;
  if (fits(type, value)) return { value };
  const why = `must be ${NAMES[type]}, not ${shown(given)}`;
  if (type === 'number' && typeof given === 'string' && isRounded(given.trim()))
    return { why: `${why}, which would be rounded`, hint: 'declare it as a text: numbers keep 15 digits' };
  const json = type === 'list' ? '["a", "b"]' : '{"a": 1}';
  return isComposite(type) ? { why, hint: `write it as JSON: ${json}` } : { why };
}

function ofText(type: InputType, text: string): unknown {
  switch (type) {
    case 'text':
      return text;
    case 'number':
      return numberOf(text);
    case 'boolean':
      return truthOf(text);
    case 'list':
    case 'object':
      return jsonIn(text);
  }
}

function textOf(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

function fits(type: InputType, value: unknown): boolean {
  if (type === 'list') return Array.isArray(value);
  if (type === 'object') return isPlainObject(value);
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === (type === 'text' ? 'string' : type);
}

const NAMES: Readonly<Record<InputType, string>> = {
  text: 'a text',
  number: 'a number',
  boolean: 'true or false',
  list: 'a list',
  object: 'an object',
};

function shown(value: unknown): string {
  if (typeof value === 'string') return quoteShort(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindText(value);
}

/** Returns the problems of input values given by name (`bad-input`). */
export function badInputs(inputs: readonly InputSpec[], given: Readonly<Record<string, unknown>>): readonly Problem[] {
  return inputs.flatMap((input) => {
    if (!Object.hasOwn(given, input.name) || given[input.name] === undefined) return [];
    const found = inputValue(input, given[input.name]);
    return 'why' in found ? [badInput(input, found)] : [];
  });
}

function badInput({ name, at, type }: InputSpec, { why, hint }: Extract<TypedValue, { why: string }>): Problem {
  const message = `the input ${quoteShort(name)} ${why}`;
  const advice =
    hint ?? `give another value, such as ${name}=${type === 'number' ? '3' : type === 'boolean' ? 'true' : 'VALUE'}`;
  return { code: 'bad-input', severity: 'error', message, hint: advice, ...(at === undefined ? {} : { at }) };
}

/** Converts values to the declared types of their inputs, as {@link inputValue} does; an invalid value stays as it is. */
export function typedInputs(
  inputs: readonly InputSpec[],
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const typed = inputs.filter(({ type, name }) => type !== undefined && Object.hasOwn(given, name));
  if (typed.length === 0) return given;
  const values = typed.map((input) => {
    const found = inputValue(input, given[input.name]);
    return [input.name, 'value' in found ? found.value : given[input.name]] as const;
  });
  return { ...given, ...Object.fromEntries(values) };
}

export function enumFits(type: InputType | undefined, values: readonly Json[]): boolean {
  return values.every((value) => fits(type ?? 'text', value));
}

/** The type of an input's value. */
export type InputType = 'text' | 'number' | 'boolean' | 'list' | 'object';

/** An input of a workflow. It becomes a channel of the initial state. */
export interface InputSpec {
  /** Channel that holds the value; in the DAG notation `inputs.NAME`. */
  readonly channel: string;
  /** Name that the user sees. */
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly default?: Json;
  /** Values are converted to this type or refused before anything runs. Absent: any value is accepted unchanged. */
  readonly type?: InputType;
  /** The allowed values. */
  readonly enum?: readonly Json[];
  readonly at?: Position;
}
