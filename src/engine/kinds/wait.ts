import type { ErrorData } from '../../base/errors.js';
import type { WaitNode } from '../../plan/plan.js';
import type { Body } from '../step.js';

/** Waits for time to pass, or for an outside event, or for an event within a time. */
export const waitBody: Body = {
  start(step) {
    const { node } = step.compiled;
    if (node.kind !== 'wait') return;
    const { durable } = step.run;
    if (node.event === undefined) {
      step.follow(durable.timer(`${step.key}@timer`, node.ms ?? 0));
      return;
    }
    const limit = node.ms === undefined ? {} : { expiresMs: node.ms };
    step.follow(durable.signal(`${step.key}@event`, { name: node.event, ...limit }));
  },
  take(step, outcome) {
    const { node } = step.compiled;
    if (outcome.ok) step.succeed(outcome.value);
    else if (outcome.error.code === 'SKEIN_QUESTION') step.pause({ text: '' }, outcome.error.message);
    else if (outcome.error.code === 'SKEIN_TIMEOUT' && node.kind === 'wait') step.fail(tooLate(node));
    else step.fail(outcome.error);
  },
};

function tooLate(node: WaitNode): ErrorData {
  const message = `the event '${node.event ?? ''}' did not come within ${node.ms ?? 0} ms`;
  return { code: 'SKEIN_TIMEOUT', message, retryable: true };
}
