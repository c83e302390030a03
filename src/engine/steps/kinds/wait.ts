import { EXPIRED } from '../../../base/decided.js';
import type { ErrorData } from '../../../base/errors.js';
import { limitOf, timeOf } from '../../../base/duration.js';
import { isThenable } from '../../../base/at-once.js';
import { present } from '../../../base/json.js';
import type { WaitNode } from '../../../plan/plan.js';
import { definitionOf } from '../../durable/identity.js';
import type { Effect } from '../../ports/durable.js';
import type { Identity, StepOptions } from '../../ports/recording.js';
import { isAllowed } from '../../graph/explain.js';
import { ReadLog } from '../../state/reads.js';
import { fromOutside } from '../../../guard/label.js';
import type { Body, Step } from '../step.js';

/** Waits for time to pass, for an outside event, or for an event within a time limit. */
export const waitBody: Body = {
  start(step) {
    const { node } = step.compiled;
    if (node.kind !== 'wait') return;
    const { event, ms, until, schema } = node;
    const { durable } = step.run;
    if (event !== undefined) {
      const limit = present({ expiresMs: ms, hasDefault: hasDefault(node) });
      step.follow(durable.signal(`${step.key}@event`, { name: event, ...limit, ...present({ schema }) }));
    } else if (until === 'code') {
      const chosen = new ChosenTime(step);
      step.follow(durable.step(`${step.key}@until`, chosen, chosen));
    } else if (until === undefined) step.follow(durable.timer(`${step.key}@timer`, ms ?? 0));
    else sleepUntil(step, until);
  },
  take(step, outcome) {
    const { node } = step.compiled;
    if (node.kind !== 'wait') return;
    const { until, event, onExpire } = node;
    if (outcome.ok) {
      if (event !== undefined) step.influenced(step.run.labels.of(fromOutside(step.path, 'event')));
      if (event === undefined && until === 'code' && typeof outcome.value === 'number') sleepUntil(step, outcome.value);
      else step.succeed(outcome.value);
    } else if (outcome.error.code === 'SKEIN_QUESTION') step.pause({ text: '' }, outcome.error.message);
    else if (outcome.error.code !== 'SKEIN_TIMEOUT') step.fail(outcome.error);
    else if (typeof onExpire === 'object') step.succeed(onExpire.answer);
    else step.fail(tooLate(node));
  },
};

/** The wait begins at the recorded time, so the alarm is the same on a replay. */
function sleepUntil(step: Step, time: number): void {
  const { durable } = step.run;
  step.follow(durable.timer(`${step.key}@timer`, Math.max(0, time - durable.now())));
}

/** The duration function runs once; its result is recorded as a point in time. */
class ChosenTime extends ReadLog implements Effect, Identity, StepOptions {
  readonly pure = true;

  constructor(private readonly step: Step) {
    super(step.input, step.owner, step);
  }

  get identity(): Identity {
    return this;
  }

  perform(): unknown {
    const { compiled, run } = this.step;
    const { body, id } = compiled;
    if (body === undefined) throw new TypeError(`'${id}' has no function`);
    const now = run.durable.now();
    const time = (chosen: unknown): number => timeOf(limitOf(chosen, `what the function of '${id}' gives`), now);
    const chosen = body(this.viewFor(body), undefined);
    return isThenable(chosen) ? chosen.then(time) : time(chosen);
  }

  digest(): string {
    return definitionOf(this.step.compiled);
  }
}

function hasDefault({ onExpire, onError }: WaitNode): true | undefined {
  return typeof onExpire === 'object' || isAllowed(onError) || undefined;
}

function tooLate(node: WaitNode): ErrorData {
  const message = `the event '${node.event ?? ''}' did not come within ${node.ms ?? 0} ms`;
  const more = hasDefault(node) === true ? { details: EXPIRED } : {};
  return { code: 'SKEIN_TIMEOUT', message, retryable: true, ...more };
}
