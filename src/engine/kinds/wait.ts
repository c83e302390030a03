import type { Step } from '../step.js';

/** Waits for time to pass, or for an outside event, or for an event within a time. */
export function waitBody(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'wait') return;
  const { ms, event } = node;
  const { durable } = step.run;
  if (event === undefined) {
    step.follow(durable.timer(`${step.key}/timer`, ms ?? 0), (waited) => waited.succeed(undefined));
    return;
  }
  if (ms !== undefined) {
    const timer = durable.timer(`${step.key}/timer`, ms);
    timer.settle = () =>
      step.fail({
        code: 'SKEIN_TIMEOUT',
        message: `the event '${event}' did not come within ${ms} ms`,
        retryable: true,
      });
    step.hold({
      stop: () => {
        timer.settle = undefined;
        if (timer.outcome === undefined) durable.drop(timer);
      },
    });
  }
  step.follow(durable.signal(`${step.key}/event`, event), (waited, outcome) => {
    if (outcome.ok) waited.succeed(outcome.value);
    else if (outcome.error.code === 'SKEIN_QUESTION') waited.pause({ text: '' }, outcome.error.message);
    else waited.fail(outcome.error);
  });
}
