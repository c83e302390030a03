import type { ErrorData } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import type { Question } from './ports/durable.js';

/** The question that nobody could answer, out of a `SKEIN_QUESTION`: in `details.question`. Without one: an empty text. */
export function questionIn(error: ErrorData): Question {
  const { details } = error;
  const question = isPlainObject(details) ? details['question'] : undefined;
  if (!isPlainObject(question) || typeof question['text'] !== 'string') return { text: '' };
  const { text, choices, schema, evidence } = question;
  return {
    text,
    ...(Array.isArray(choices) ? { choices: choices.filter((choice) => typeof choice === 'string') } : {}),
    ...(schema === undefined ? {} : { schema }),
    ...(evidence === undefined ? {} : { evidence }),
  };
}

/** The schema of an answer: as it is given, or that of a choice. */
export function answerSchema(choices: readonly string[] | undefined, schema: unknown): { readonly schema?: unknown } {
  if (schema !== undefined) return { schema };
  return choices === undefined ? {} : { schema: { enum: choices } };
}
