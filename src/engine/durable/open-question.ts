import { SkeinError, type ErrorData } from '../../base/errors.js';
import { digestText } from '../../base/hash.js';
import { asRecorded, isPlainObject, recordText } from '../../base/json.js';
import { openQuestion, type OpenQuestion } from '../../events/question.js';
import type { RecordedQuestion } from '../../journal/record.js';
import { wordsOf } from '../../lang/answers.js';
import { schemaFindings } from '../../lang/schema-check.js';
import type { Question, Wait } from '../ports/durable.js';

/** The question that nobody could answer, from `details.question` of a `SKEIN_QUESTION`. Without one, an empty text. */
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

/** An answer with its source: `terminal`, `code`, `script`, `flag`. */
export class Given {
  constructor(
    readonly value: unknown,
    readonly by: string,
  ) {}
}

/**
 * Wraps an answer given in this process; a function of the program may return a plain value.
 *
 * @throws SkeinError `SKEIN_ANSWER` if it does not match the question: it is discarded, and the question is asked again on a resume
 */
export function answerIn(question: Question | undefined, answer: unknown): Given {
  const given = answer instanceof Given ? answer : new Given(answer, 'code');
  const findings = findingsOf(question, given.value);
  if (findings.length === 0) return given;
  const hint = wordsOf(question?.schema);
  throw new SkeinError('SKEIN_ANSWER', `the answer does not match what was asked for: ${findings.join('; ')}`, {
    hint,
  });
}

export function findingsOf(question: Question | undefined, value: unknown): readonly string[] {
  return question?.schema === undefined ? [] : schemaFindings(question.schema, value);
}

/** Digest of a question: an edited question is a different one. */
export function waitId({ name, question, expiresMs, schema }: Wait): string {
  return digestText(recordText({ name, question, expiresMs, schema }));
}

export function recordedQuestion(question: Question): RecordedQuestion {
  return asRecorded(question) as RecordedQuestion;
}

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
