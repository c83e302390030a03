import type { PlanNode } from '../../../plan/plan.js';
import type { Ticket, Waiter } from '../../ports/durable.js';
import type { Clock, PolicedStep, Policy } from './policy.js';

/** A time limit for each attempt: `timeoutMs`. An attempt that exceeds it fails, and `retry` handles the failure. */
export function timeout({ id, timeoutMs }: PlanNode): Policy | undefined {
  if (timeoutMs === undefined) return undefined;
  const message = `'${id}' took longer than its timeout of ${timeoutMs} ms`;
  return {
    begin(step, go) {
      const late = (): void => step.fail({ code: 'SKEIN_TIMEOUT', message, retryable: true });
      step.addClock(new AttemptClock(step, timeoutMs, late));
      go();
    },
  };
}

/**
 * The timeout of one attempt. Paused time does not count toward the timeout: the clock stops while a question inside the attempt is open,
 * of the step itself or of a step inside it. With several open questions, it continues after the last answer.
 */
class AttemptClock implements Clock, Waiter {
  private timer: Ticket | undefined = undefined;
  private deadline = 0;
  private stops = 0;
  private starts = 0;
  private closed = false;

  constructor(
    private readonly step: PolicedStep,
    private left: number,
    private readonly expired: () => void,
  ) {
    this.start();
  }

  settled(): void {
    this.timer = undefined;
    this.expired();
  }

  stop(): void {
    this.stops += 1;
    if (this.stops > 1 || this.timer === undefined) return;
    this.dropTimer();
    this.left = Math.max(0, this.deadline - this.step.run.durable.now());
  }

  resume(): void {
    this.stops -= 1;
    if (this.stops === 0 && !this.closed) this.start();
  }

  close(): void {
    this.closed = true;
    this.dropTimer();
  }

  private start(): void {
    this.starts += 1;
    const again = this.starts === 1 ? '' : `~${this.starts}`;
    const { step, left } = this;
    const { durable } = step.run;
    this.deadline = durable.now() + left;
    const identity = durable.recorded ? step.identity : undefined;
    this.timer = durable.timer(`${step.key}@timeout${again}`, left, true, identity);
    this.timer.waiter = this;
  }

  private dropTimer(): void {
    const { timer } = this;
    if (timer === undefined) return;
    this.timer = undefined;
    timer.waiter = undefined;
    this.step.run.durable.drop(timer);
  }
}
