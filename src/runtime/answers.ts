import { isApproval } from '../agent/loop/approval.js';
import type { ModelRegistry } from '../agent/models/registry.js';
import { SkeinError } from '../base/errors.js';
import type { AnswerQuestion } from '../engine/durable/memory-durable.js';
import { typedAnswer } from '../lang/answers.js';

/**
 * The script that the user runs it with may answer for the person: what stands there means what it would mean on a terminal. It never lets a tool
 * call happen.
 */
export function answerBy(models: ModelRegistry, answer: AnswerQuestion | undefined): AnswerQuestion {
  return async (question, address, signal) => {
    const scripted = isApproval(question, address) ? undefined : await models.scriptAnswer(question.text);
    if (scripted !== undefined) {
      const typed = typedAnswer(question, scripted);
      return typed.ok ? typed.value : scripted;
    }
    if (answer !== undefined) return await answer(question, address, signal);
    throw new SkeinError('SKEIN_QUESTION', `there is no one to answer: ${question.text}`, {
      hint: 'run it on a terminal, pass an answer function, or record the run in a store and answer later',
    });
  };
}
