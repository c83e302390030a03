import { SkeinError } from '../base/errors.js';
import { isPlainObject, isRounded, ownValue } from '../base/json.js';

/**
 * The arguments of a tool with texts turned into what its schema asks for, as models and state often give them: `"5"` and `"1.5"` become
 * numbers, `true`, `1`, `yes`, `false`, `0`, `no` become booleans. Nothing becomes a text, true is not a number, a list must be a list. What
 * still does not fit is left for the check against the schema.
 *
 * @throws SkeinError `SKEIN_INPUT` for an argument that the schema does not name
 */
export function coerceInput(
  tool: string,
  schema: unknown,
  input: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = propertyNames(schema);
  const open = ownValue(schema, 'additionalProperties');
  if (open === undefined || open === false) {
    const unknown = Object.keys(input).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      const hint = names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`;
      throw new SkeinError('SKEIN_INPUT', `${tool}: unknown argument "${unknown}"`, { hint });
    }
  }
  return coerceObject(schema, input);
}

export function propertyNames(schema: unknown): readonly string[] {
  const properties = ownValue(schema, 'properties');
  return isPlainObject(properties) ? Object.keys(properties) : [];
}

export function requiredNames(schema: unknown): readonly string[] {
  const required = ownValue(schema, 'required');
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}

function coerceObject(schema: unknown, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = ownValue(schema, 'properties');
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, coerceValue(ownValue(properties, name), value)]),
  );
}

function coerceValue(schema: unknown, value: unknown): unknown {
  if (isPlainObject(value)) return coerceObject(schema, value);
  if (Array.isArray(value)) return value.map((item) => coerceValue(ownValue(schema, 'items'), item));
  return typeof value === 'string' ? coerceText([ownValue(schema, 'type')].flat(), value) : value;
}

function coerceText(types: readonly unknown[], text: string): unknown {
  if (types.includes('string')) return text;
  const trimmed = text.trim();
  if (types.includes('integer') && /^[+-]?\d+$/.test(trimmed) && !isRounded(trimmed)) return Number(trimmed);
  if (types.includes('number')) return numberOf(trimmed) ?? textOrTruth(types, text);
  return textOrTruth(types, text);
}

function textOrTruth(types: readonly unknown[], text: string): unknown {
  return types.includes('boolean') ? (truthOf(text) ?? text) : text;
}

/** Parses a text, with or without surrounding spaces, as a number; returns undefined if it is none, or would be rounded to another whole number. */
export function numberOf(text: string): number | undefined {
  const trimmed = text.trim();
  return NUMBER.test(trimmed) && !isRounded(trimmed) ? Number(trimmed) : undefined;
}

/** Parses a text, in any case and with or without surrounding spaces, as a boolean; returns undefined if it is none. */
export function truthOf(text: string): boolean | undefined {
  return TRUTH.get(text.trim().toLowerCase());
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

const TRUTH: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);
