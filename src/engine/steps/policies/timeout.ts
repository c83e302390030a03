import type { PlanNode } from '../../../plan/plan.js';
import type { Ticket, Waiter } from '../../ports/durable.js';
import type { Identity } from '../../ports/recording.js';
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
  private left: number;
  private stops = 0;
  private closed = false;

  constructor(
    private readonly step: PolicedStep,
    private readonly limit: number,
    private readonly expired: () => void,
  ) {
    this.left = limit;
    this.start();
  }

  settled(): void {
    this.timer = undefined;
    this.expired();
  }

  stop(): void {
    this.stops += 1;
    const { timer } = this;
    if (this.stops > 1 || timer === undefined) return;
    this.dropTimer();
    // Time in which no process ran the run is not part of the attempt: only what has passed since the timer was set counts.
    const used = timer.setAt === undefined ? 0 : this.step.run.durable.now() - timer.setAt;
    this.left -= Math.min(this.left, Math.max(0, used));
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
    const { step, left, limit } = this;
    const { durable } = step.run;
    // The whole limit: what is left of it is another in each session.
    const identity = durable.recorded ? timeLimit(limit, step.identity) : undefined;
    // One key, however often the clock stood still: a replay, which waits for no turn and no budget, must find the expiry all the same.
    this.timer = durable.timer(`${step.key}@timeout`, left, true, identity);
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

/** The identity of a time limit: its duration, and the identity of what it limits, so that a recorded expiry counts for nothing else. */
export function timeLimit(ms: number, limited: Identity): Identity {
  const timed = (digest: string): string => `${ms} ${digest}`;
  return {
    digest: () => timed(limited.digest()),
    also: () => limited.also?.().map(timed) ?? [],
    reads: () => limited.reads?.(),
    current: (name) => limited.current?.(name) ?? '',
    heard: () => limited.heard?.(),
    wrote: () => limited.wrote?.(),
    reused: (then) => limited.reused?.(then),
  };
}
