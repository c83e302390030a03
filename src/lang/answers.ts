import { isPlainObject, jsonIn, ownValue, type Json, type JsonObject } from '../base/json.js';
import { schemaFindings } from './schema-check.js';

export type TypedAnswer =
  | { readonly ok: true; readonly value: unknown }
  /** `lacks`: the same for a message that says by itself that the answer does not match. */
  | { readonly ok: false; readonly why: string; readonly lacks?: string };

interface Asked {
  readonly choices?: readonly string[] | undefined;
  readonly schema?: unknown;
}

/**
 * Reads a line as the answer to a question: a number picks a choice; where the schema does not take the text, it is read as JSON.
 */
export function typedAnswer({ choices = [], schema }: Asked, line: string): TypedAnswer {
  const typed = line.trim();
  if (typed === '') return { ok: false, why: 'please type an answer' };
  const picked = chosen(typed, choices);
  if (picked === undefined) return { ok: false, why: `there is no choice ${typed}` };
  if (schema === undefined || schemaFindings(schema, picked).length === 0) return { ok: true, value: picked };
  const free = withFree(typed, choices);
  if (free !== undefined && schemaFindings(schema, free).length === 0) return { ok: true, value: free };
  const whole = withText(typed, choices, schema);
  if (whole !== undefined && schemaFindings(schema, whole).length === 0) return { ok: true, value: whole };
  const lacking = textOf(schema, picked);
  if (lacking !== undefined)
    return { ok: false, why: `${picked} asks for a text: write "${picked}: ${lacking.toUpperCase()}"` };
  const json = jsonIn(picked);
  if (json !== undefined && schemaFindings(schema, json).length === 0) return { ok: true, value: json };
  const words = wordsOf(schema);
  if (choices.length > 0)
    return {
      ok: false,
      why: [`it must be one of: ${choices.join(', ')}`, ...(words === undefined ? [] : [words])].join('; '),
    };
  const findings = schemaFindings(schema, json ?? picked).join('; ');
  const lacks = words === undefined ? findings : `${words} (${findings})`;
  return { ok: false, why: `that is not what was asked for: ${lacks}`, lacks };
}

/** The schema of one of some choices, or of `yes` with names that it leaves free. It is typed as `allow free body, title`. */
export function freeSchema(choices: readonly string[], yes: string, names: readonly string[]): JsonObject {
  if (names.length === 0) return { enum: choices };
  const free = { type: 'array', items: { enum: names }, minItems: 1, uniqueItems: true };
  const properties = { answer: { const: yes }, free };
  const whole = { type: 'object', properties, required: ['answer', 'free'], additionalProperties: false };
  return {
    anyOf: [{ enum: choices }, whole],
    description: `or "${yes} free NAME, ..." to leave arguments free for the rest of this run: ${names.join(', ')}`,
  };
}

/** A choice that asks for a text as well, by the name that the text has in the answer. */
export interface TextChoice {
  readonly value: string;
  readonly text?: string | undefined;
}

/** The schema of choices of which some ask for a text: `{ choice, feedback }`. It is typed as `revise: make it shorter`. */
export function choiceSchema(choices: readonly TextChoice[]): JsonObject {
  const anyOf = choices.map(({ value, text }): JsonObject => {
    const properties = {
      choice: { const: value },
      ...(text === undefined ? {} : { [text]: { type: 'string', minLength: 1 } }),
    };
    return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
  });
  const ways = choices.flatMap(({ value, text }) => (text === undefined ? [] : [`"${value}: ${text.toUpperCase()}"`]));
  return { anyOf, description: `with a text: ${ways.join(', ')}` };
}

/** The name of the text that a choice asks for; undefined for none. */
function textOf(schema: unknown, choice: string): string | undefined {
  const ways = isPlainObject(schema) ? ownValue(schema, 'anyOf') : undefined;
  for (const way of Array.isArray(ways) ? (ways as readonly unknown[]) : []) {
    const properties = isPlainObject(way) ? ownValue(way, 'properties') : undefined;
    const own = isPlainObject(properties) ? ownValue(properties, 'choice') : undefined;
    if (!isPlainObject(properties) || !isPlainObject(own) || ownValue(own, 'const') !== choice) continue;
    return Object.keys(properties).find((name) => name !== 'choice');
  }
  return undefined;
}

/** `approve`, or `revise: make it shorter`; the choice may be its number. */
function withText(typed: string, choices: readonly string[], schema: unknown): Json | undefined {
  const [, before = typed, text] = /^([^:]+?)\s*:\s*(\S[^]*)$/.exec(typed) ?? [];
  const choice = chosen(before, choices) ?? before;
  const name = textOf(schema, choice);
  if (text === undefined || name === undefined) return text === undefined ? { choice } : undefined;
  return { choice, [name]: text };
}

/** `allow free body, title`; the choice may be its number. Names are those of the schema: it checks them. */
function withFree(typed: string, choices: readonly string[]): Json | undefined {
  const [, choice = '', names = ''] = /^(\S+)\s+free\s+(.+)$/s.exec(typed) ?? [];
  if (names === '') return undefined;
  const free = names.split(',').map((name) => name.trim());
  return { answer: chosen(choice, choices) ?? choice, free };
}

export function wordsOf(schema: unknown): string | undefined {
  const words = isPlainObject(schema) ? ownValue(schema, 'description') : undefined;
  return typeof words === 'string' && words !== '' ? words : undefined;
}

/** Returns the choice behind a typed number, or the text unchanged. */
export function pickChoice(answer: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? answer : (chosen(answer.trim(), choices, answer) ?? answer);
}

/** The choice that is meant, `otherwise` what is not a number, undefined for a number that no choice has. A choice that is itself a number wins. */
export function chosen(typed: string, choices: readonly string[], otherwise: string = typed): string | undefined {
  if (choices.length === 0 || choices.includes(typed) || !/^\d{1,4}$/.test(typed)) return otherwise;
  return choices[Number(typed) - 1];
}
