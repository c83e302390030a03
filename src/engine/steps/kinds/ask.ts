import { SkeinError } from '../../../base/errors.js';
import { present } from '../../../base/json.js';
import { JsonTexts, readRef, refText } from '../../../lang/json-path.js';
import { hearsAnswer } from '../../../guard/label.js';
import { isAllowed } from '../../graph/explain.js';
import { answerNote } from '../../../events/question.js';
import { answerSchema } from '../../../plan/task-question.js';
import type { Question } from '../../ports/durable.js';
import type { AskNode } from '../../../plan/plan.js';
import type { Body, Step } from '../step.js';

/** A question to a person. The answer goes to the node's output; if nobody can answer, the step pauses. */
export const askBody: Body = {
  start(step) {
    const { node } = step.compiled;
    if (node.kind !== 'ask') return;
    step.hold({ stop: step.stopClock() });
    const hasDefault = typeof node.onExpire === 'object' || isAllowed(node.onError) || undefined;
    const limit = present({ expiresMs: node.expiresMs, hasDefault });
    const { value: question } = step.labelOf(() => questionOf(step, node));
    const wait = { name: node.id, question, ...limit };
    step.follow(step.run.durable.signal(`${step.key}@answer`, wait));
  },
  take(step, outcome, by) {
    const { node } = step.compiled;
    if (node.kind !== 'ask') return;
    hearsAnswer(step.path, (label) => step.influenced(step.run.labels.of(label)))(by);
    if (outcome.ok) {
      if (step.run.reporter.followed) step.emit({ type: 'step.note', note: answerNote(outcome.value) });
      answered(step, node, outcome.value);
    } else if (outcome.error.code === 'SKEIN_QUESTION') step.pause(questionOf(step, node), outcome.error.message);
    else if (outcome.error.code === 'SKEIN_TIMEOUT' && typeof node.onExpire === 'object')
      answered(step, node, node.onExpire.answer);
    else step.fail(outcome.error);
  },
};

function answered(step: Step, node: AskNode, answer: unknown): void {
  // What a person types is the person's own; offered choices are only as trustworthy as the question.
  if (node.choices !== undefined || node.choicesFrom !== undefined)
    step.influenced(step.labelOf(() => questionOf(step, node)).label);
  step.succeed(node.output === undefined ? { [node.id]: answer } : answer);
}

/** @throws SkeinError `SKEIN_NOT_A_LIST` */
function choicesOf(step: Step, { id, choices, choicesFrom }: AskNode): readonly string[] | undefined {
  if (choicesFrom === undefined) return choices;
  const texts = new JsonTexts(step.run);
  const found = readRef(choicesFrom, step.reader(), texts);
  const list = typeof found === 'string' ? texts.parse(found) : found;
  const refuse = (what: string, hint: string): SkeinError =>
    new SkeinError('SKEIN_NOT_A_LIST', `the choices of '${id}': ${refText(choicesFrom)} ${what}`, { hint });
  if (!Array.isArray(list)) throw refuse('is not a list', 'give a list of texts, such as ["a", "b"]');
  const known = list.filter((item) => typeof item === 'string' || typeof item === 'number').map(String);
  if (known.length === list.length && known.length > 0) return [...new Set(known)];
  throw refuse(list.length === 0 ? 'is empty' : 'has something else than texts', 'give a list of texts and numbers');
}

function questionOf(step: Step, node: AskNode): Question {
  const choices = choicesOf(step, node);
  const { schema } = node;
  return {
    text: step.render(node.question),
    ...(choices === undefined ? {} : { choices }),
    ...answerSchema(choices, schema),
  };
}
