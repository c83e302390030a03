import type { Question } from '../../index.js';

/** What somebody typed: the answer, or what is wrong with it. */
export type TypedAnswer = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** What is wrong with a value by a JSON Schema; nothing when it matches. */
export type FindFaults = (schema: unknown, value: unknown) => readonly string[];

/**
 * Reads a line as the answer to a question: a number picks a choice; where the schema does not take the text, it is read as JSON.
 *
 * @example
 * typedAnswer({ text: 'Which?', choices: ['hand', 'power'] }, '2', schemaFindings); // { ok: true, value: 'power' }
 */
export function typedAnswer({ choices = [], schema }: Question, line: string, findFaults: FindFaults): TypedAnswer {
  const typed = line.trim();
  if (typed === '') return { ok: false, why: 'please type an answer' };
  const picked = pick(typed, choices);
  if (picked === undefined) return { ok: false, why: `there is no choice ${typed}` };
  if (schema === undefined || findFaults(schema, picked).length === 0) return { ok: true, value: picked };
  const json = parsed(picked);
  if (json !== undefined && findFaults(schema, json.value).length === 0) return { ok: true, value: json.value };
  if (choices.length > 0) return { ok: false, why: `it must be one of: ${choices.join(', ')}` };
  return { ok: false, why: `that is not what was asked for: ${findFaults(schema, json?.value ?? picked).join('; ')}` };
}

/** A choice that is itself a number wins over its place. */
function pick(typed: string, choices: readonly string[]): string | undefined {
  if (choices.length === 0 || choices.includes(typed) || !/^\d{1,4}$/.test(typed)) return typed;
  return choices[Number(typed) - 1];
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
