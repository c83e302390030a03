import type { Json } from '../base/json.js';
import { suggest } from '../base/suggest.js';
import type { ValueRef } from '../lang/values.js';

/** What is known of a step that has ended, by the word in references to it. */
const ABSENT: Readonly<Record<string, Json>> = { status: 'not_run', error: { code: '', message: '' }, errors: [] };

/** The words for how a step ended. */
export const ENDING_WORDS: readonly string[] = Object.keys(ABSENT);

/** A value of how a step ended; `unknown`: the word that it has not. */
export type EndingValue =
  { readonly ref: ValueRef; readonly used: number } | { readonly unknown: string; readonly known: readonly string[] };

/** What a reference to the ending of a step begins with, behind its name: a word, and what follows. Undefined when it is about something else. */
export function readEnding(
  words: readonly string[],
  step: { readonly channel: string; readonly isMap: boolean },
): EndingValue | undefined {
  const [word = '', ...more] = words;
  const own = step.isMap ? ENDING_WORDS : ENDING_WORDS.filter((each) => each !== 'errors');
  if (!own.includes(word)) {
    const meant =
      word === 'errors' || (suggest(word, ['output', 'outputs']) === undefined && suggest(word, own) !== undefined);
    return meant ? { unknown: word, known: ['output', ...own] } : undefined;
  }
  const [field] = more;
  if (field !== undefined && word === 'status') return { unknown: `status.${field}`, known: ['status'] };
  if (word === 'error' && field !== undefined && field !== 'code' && field !== 'message')
    return { unknown: `error.${field}`, known: ['error.code', 'error.message'] };
  return { ref: { channel: step.channel, path: [word], absent: ABSENT[word] ?? null }, used: 1 };
}

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
