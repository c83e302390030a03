import type { WaitNode } from '../../plan/plan.js';
import type { Body, Step } from '../step.js';

/** Waits for time to pass, or for an outside event, or for an event within a time. */
export const waitBody: Body = {
  start(step) {
    const { node } = step.compiled;
    if (node.kind !== 'wait') return;
    const { durable } = step.run;
    if (node.event === undefined) {
      step.follow(durable.timer(`${step.key}/timer`, node.ms ?? 0));
      return;
    }
    if (node.ms !== undefined) limitWait(step, node, node.ms);
    step.follow(durable.signal(`${step.key}/event`, node.event));
  },
  take(step, outcome) {
    if (outcome.ok) step.succeed(outcome.value);
    else if (outcome.error.code === 'SKEIN_QUESTION') step.pause({ text: '' }, outcome.error.message);
    else step.fail(outcome.error);
  },
};

function limitWait(step: Step, node: WaitNode, ms: number): void {
  const { durable } = step.run;
  const timer = durable.timer(`${step.key}/timer`, ms);
  const message = `the event '${node.event ?? ''}' did not come within ${ms} ms`;
  timer.waiter = { settled: () => step.fail({ code: 'SKEIN_TIMEOUT', message, retryable: true }) };
  step.hold({
    stop: () => {
      timer.waiter = undefined;
      if (timer.outcome === undefined) durable.drop(timer);
    },
  });
}
