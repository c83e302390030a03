import type { ErrorData } from '../../base/errors.js';
import { digestText } from '../../base/hash.js';
import { isPlainObject, recordText } from '../../base/json.js';
import type { OpenQuestion } from '../../events/question.js';
import { openQuestion } from '../../events/question.js';
import type { RecordedQuestion } from '../../journal/record.js';
import type { Question, Wait } from '../ports/durable.js';

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

/** Digest of what is asked: an edited question is another one. */
export function waitId({ name, question, expiresMs, schema }: Wait): string {
  return digestText(recordText({ name, question, expiresMs, schema }));
}

/** A question as it is recorded and told. */
export function recordedQuestion(question: Question): RecordedQuestion {
  return JSON.parse(recordText(question)) as RecordedQuestion;
}

/** What is reported of a wait that began at a time. */
export function waitingFor(key: string, wait: Wait, at: number): OpenQuestion {
  const { name, question, expiresMs } = wait;
  return openQuestion({
    key,
    id: waitId(wait),
    name,
    at,
    ...(expiresMs === undefined ? {} : { due: at + expiresMs }),
    ...(question === undefined ? {} : { question: recordedQuestion(question) }),
  });
}
