import type { Json } from '../base/json.js';
import { didYouMean, suggest } from '../base/suggest.js';
import type { ValueRef } from '../lang/values.js';

/** The ending of a step that did not run, by the word that references use. */
const ABSENT: Readonly<Record<string, Json>> = { status: 'not_run', error: { code: '', message: '' }, errors: [] };

export const ENDING_WORDS: readonly string[] = Object.keys(ABSENT);

interface Ended {
  readonly channel: string;
  readonly isMap: boolean;
  readonly gives: readonly ('output' | 'outputs')[];
}

const SCHEMAS: Readonly<Record<string, Json>> = {
  status: { type: 'string' },
  error: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } },
  errors: { type: 'array' },
};

/** The JSON Schema of a step's ending, as found under the step's name. */
export const ENDING_SCHEMA: Json = { type: 'object', properties: SCHEMAS };

export const RUN_SCHEMA: Json = {
  type: 'object',
  properties: { outcome: { type: 'string' }, error: SCHEMAS['error'] ?? {} },
};

export type EndingValue =
  { readonly ref: ValueRef; readonly used: number } | { readonly unknown: string; readonly hint: string };

/**
 * Parses the part of a reference after the step's name, as a word of its ending and a path into it. A likely misspelling of such a word is
 * unknown. Returns undefined if the reference is about something else.
 */
export function readEnding(words: readonly string[], { channel, isMap, gives }: Ended): EndingValue | undefined {
  const [word = '', ...more] = words;
  const own = isMap ? ENDING_WORDS : ENDING_WORDS.filter((each) => each !== 'errors');
  if (!own.includes(word)) {
    const known = [...gives, ...own];
    const meant = word === 'errors' || (!OUTPUT.test(word) && suggest(word, known) !== undefined);
    return meant ? unknown(word, known) : undefined;
  }
  const [field] = more;
  if (field !== undefined && word === 'status') return unknown(`status.${field}`, ['status']);
  if (word === 'error' && field !== undefined && field !== 'code' && field !== 'message')
    return unknown(`error.${field}`, ['error.code', 'error.message']);
  return { ref: { channel, path: [word], absent: ABSENT[word] ?? null }, used: 1 };
}

function unknown(word: string, known: readonly string[]): EndingValue {
  return { unknown: word, hint: didYouMean(word, known) ?? `write one of: ${known.join(', ')}` };
}

/** The words for outputs. In an expression, a minus may follow. */
const OUTPUT = /^outputs?(?:-|$)/;

/** Returns the reference to an ending in a text, with a path into it. It renders as nothing if the value is absent. */
export function endingInText(
  { channel, path = [], absent }: ValueRef,
  more: readonly string[],
): ValueRef & { readonly optional?: true } {
  const [word] = path;
  if (word === 'status' || (word === 'errors' && more.length === 0))
    return { channel, path, ...(absent === undefined ? {} : { absent }) };
  return { channel, path: [...path, ...more], optional: true };
}
