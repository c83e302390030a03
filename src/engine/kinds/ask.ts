import { renderTemplate } from '../../lang/template.js';
import type { Question } from '../ports/durable.js';
import type { Step } from '../step.js';

/** A question to a person. The answer goes to the node's output; when nobody can answer, the step is paused. */
export function askBody(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'ask') return;
  const question: Question = {
    text: renderTemplate(node.question, step.owner.reader(step.input)),
    ...(node.choices === undefined ? {} : { choices: node.choices }),
    ...(node.schema === undefined ? {} : { schema: node.schema }),
  };
  step.follow(step.run.durable.signal(`${step.key}/answer`, node.id, question), (asked, outcome) => {
    if (outcome.ok) asked.succeed(node.output === undefined ? { [node.id]: outcome.value } : outcome.value);
    else if (outcome.error.code === 'SKEIN_QUESTION') asked.pause(question, outcome.error.message);
    else asked.fail(outcome.error);
  });
}
