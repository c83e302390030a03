import { SkeinError, toErrorData } from '../base/errors.js';
import { isPlainObject, recordText, type Json, type JsonObject } from '../base/json.js';
import type { Question } from '../engine/ports/durable.js';
import type { Result, StepContext } from '../engine/ports/executor.js';
import { pickChoice } from '../lang/answers.js';
import type { StepTool } from './tool.js';

/** Name of the tool with which an interactive agent asks a person. */
export const ASK_USER = 'ask_user';

export const askUserTool: StepTool = {
  name: ASK_USER,
  description: 'Ask the person who runs this workflow a question and wait for the answer.',
  inputSchema: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1 },
      choices: { type: 'array', items: { type: 'string' }, description: 'Answers to choose from, if any.' },
    },
    required: ['question'],
  },
  run: (input, ask) => ask(questionOf(input)),
};

/** Asks a person, under a name that the door chooses. */
export type AskPerson = (question: Question) => Promise<unknown>;

/** Asks a person and emits a note with the answer. If a person cannot answer yet, throws an error that carries the question. */
export async function askPerson(step: Pick<StepContext, 'note'>, question: Question, ask: AskPerson): Promise<string> {
  const given = await ask(question).catch((error: unknown) => {
    throw withQuestion(error, question);
  });
  const answer = pickChoice(typeof given === 'string' ? given : recordText(given), question.choices);
  step.note({ kind: 'answer', answer });
  return answer;
}

function withQuestion(error: unknown, question: Question): unknown {
  if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_QUESTION' || openQuestion(error) !== undefined)
    return error;
  return new SkeinError(error.code, error.message, {
    hint: error.hint,
    details: { question: { ...question } as unknown as Json },
  });
}

/** The question that an error carries because a person has yet to answer it; undefined for other errors. */
export function openQuestion(error: SkeinError): Question | undefined {
  if (error.code !== 'SKEIN_QUESTION') return undefined;
  const { details } = error;
  const question = isPlainObject(details) ? details['question'] : undefined;
  return isPlainObject(question) && typeof question['text'] === 'string'
    ? (question as unknown as Question)
    : undefined;
}

function questionOf(input: JsonObject): Question {
  const { question, choices } = input;
  const text = typeof question === 'string' ? question : '';
  const list = Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
  return list.length === 0 ? { text } : { text, choices: list };
}

/** The result of a step that ended with an error: paused if the error carries an open question, otherwise failed. */
export function failure(error: unknown): Result {
  const question = SkeinError.isInstance(error) ? openQuestion(error) : undefined;
  const data = toErrorData(error);
  return question === undefined ? { type: 'failed', error: data } : { type: 'paused', question, reason: data.message };
}
