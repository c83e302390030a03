import { renderTemplate } from '../../lang/template.js';
import type { Question } from '../ports/durable.js';
import type { AskNode } from '../../plan/plan.js';
import type { Body, Step } from '../step.js';

/** A question to a person. The answer goes to the node's output; when nobody can answer, the step is paused. */
export const askBody: Body = {
  start(step) {
    const { node } = step.compiled;
    if (node.kind !== 'ask') return;
    step.hold({ stop: step.stopClock() });
    step.follow(step.run.durable.signal(`${step.key}@answer`, { name: node.id, question: questionOf(step, node) }));
  },
  take(step, outcome) {
    const { node } = step.compiled;
    if (outcome.ok) step.succeed(node.output === undefined ? { [node.id]: outcome.value } : outcome.value);
    else if (outcome.error.code === 'SKEIN_QUESTION' && node.kind === 'ask')
      step.pause(questionOf(step, node), outcome.error.message);
    else step.fail(outcome.error);
  },
};

function questionOf(step: Step, node: AskNode): Question {
  return {
    text: renderTemplate(node.question, step.owner.reader(step.input)),
    ...(node.choices === undefined ? {} : { choices: node.choices }),
    ...(node.schema === undefined ? {} : { schema: node.schema }),
  };
}
