import type { Json } from '../base/json.js';
import { didYouMean, suggest } from '../base/suggest.js';
import type { ValueRef } from '../lang/values.js';

/** What is known of a step that has ended, by the word in references to it. */
const ABSENT: Readonly<Record<string, Json>> = { status: 'not_run', error: { code: '', message: '' }, errors: [] };

/** The words for how a step ended. */
export const ENDING_WORDS: readonly string[] = Object.keys(ABSENT);

/** What is there of a step whose ending is read. */
interface Ended {
  readonly channel: string;
  readonly isMap: boolean;
  /** The words for what it gives. */
  readonly gives: readonly ('output' | 'outputs')[];
}

/** What these values are, as JSON Schemas. */
const SCHEMAS: Readonly<Record<string, Json>> = {
  status: { type: 'string' },
  error: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } },
  errors: { type: 'array' },
};

/** The JSON Schema of how steps ended, behind their names. */
export const ENDING_SCHEMA: Json = { type: 'object', properties: SCHEMAS };

/** That of how the run ended, behind `run`. */
export const RUN_SCHEMA: Json = {
  type: 'object',
  properties: { outcome: { type: 'string' }, error: SCHEMAS['error'] ?? {} },
};

/** A value of how a step ended; `unknown`: a member that it does not have. */
export type EndingValue =
  { readonly ref: ValueRef; readonly used: number } | { readonly unknown: string; readonly hint: string };

/**
 * What a reference to the ending of a step begins with, behind its name: a word, and what follows. A word that was meant to be one of those that a step
 * has is unknown. Undefined when it is about something else.
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

/** The words of outputs; in an expression a minus may follow. */
const OUTPUT = /^outputs?(?:-|$)/;

/** The same in a text: a path into it, and nothing where there is none. */
export function endingInText(
  { channel, path = [], absent }: ValueRef,
  more: readonly string[],
): ValueRef & { readonly optional?: true } {
  const [word] = path;
  if (word === 'status' || (word === 'errors' && more.length === 0))
    return { channel, path, ...(absent === undefined ? {} : { absent }) };
  return { channel, path: [...path, ...more], optional: true };
}
