import { SkeinError, toErrorData } from '../base/errors.js';
import type { Result } from '../engine/ports/executor.js';
import { openQuestion } from './ask-user.js';

/** How a step ends with an error: one that is about a question that nobody can answer for now is a pause. */
export function failure(error: unknown): Result {
  const question = SkeinError.isInstance(error) ? openQuestion(error) : undefined;
  const data = toErrorData(error);
  return question === undefined ? { type: 'failed', error: data } : { type: 'paused', question, reason: data.message };
}
