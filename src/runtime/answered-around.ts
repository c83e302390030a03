import { aroundName } from '../base/names-inside.js';
import { present } from '../base/json.js';
import type { AnswerQuestion } from '../engine/durable/memory-questions.js';
import { Given } from '../engine/durable/open-question.js';
import type { AskAround, Parts, Question } from '../engine/ports/durable.js';
import { fromErrorData } from '../base/errors.js';
import type { RunResult } from '../engine/run.js';

/** Who answers the questions of runs inside a step: the run around them, as questions of that step. */
export interface AnsweredAround {
  readonly answer: AnswerQuestion;
  /** The same for a run with a name of its own: what it asks does not depend on what others have asked before. */
  readonly answerTo: (run: string) => AnswerQuestion;
  /** Records the effects of the runs; one that is lost is such a question, too. */
  readonly parts: Parts | undefined;
  /** The error of a question that nobody could answer. */
  readonly unanswered: () => unknown;
}

/**
 * Asks what inner runs ask as questions of the step around them, so that a run that waits says what it waits for, and answers are in its
 * record. They are named after the run, or without a name of it, after the part of the step that it belongs to. Questions with one address are
 * numbered in the order in which they are asked, like the parts of a step.
 */
export function answeredAround(ask: AskAround, parts?: Parts): AnsweredAround {
  const counts = new Map<string, number>();
  let unanswered: unknown;
  const answered = async (question: Question, address: string): Promise<unknown> => {
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    let source: string | undefined;
    try {
      const value = await ask(aroundName(address, count), question, (by) => (source = by));
      return source === undefined ? value : new Given(value, source);
    } catch (error) {
      unanswered = error;
      throw error;
    }
  };
  const askedIn = (place: string | undefined, question: Question, asker: string): Promise<unknown> =>
    answered(question, place === undefined ? asker : `${place} ${asker}`);
  const perform: Parts['perform'] | undefined =
    parts &&
    (async (...part) => {
      const outcome = await parts.perform(...part);
      if (!outcome.ok && outcome.error.code === 'SKEIN_QUESTION') unanswered ??= fromErrorData(outcome.error);
      return outcome;
    });
  return {
    answer: (question, asker) => askedIn(parts?.underWay(), question, asker),
    answerTo: (run) => (question, asker) => askedIn(run, question, asker),
    parts: parts && { ...parts, ...present({ perform }) },
    unanswered: () => unanswered,
  };
}

/**
 * The result of an inner run.
 *
 * @throws what the question of the step around it threw, if the run waits for that: there is nothing to go on with until there is an answer
 */
export function unlessWaiting(result: RunResult, around: Pick<AnsweredAround, 'unanswered'> | undefined): RunResult {
  const waits = result.outcome === 'paused' || (result.outcome === 'out_of_budget' && result.questions.length > 0);
  const error = waits ? around?.unanswered() : undefined;
  if (error !== undefined) throw error as Error;
  return result;
}
