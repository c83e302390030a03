import type { ErrorData } from '../../base/errors.js';
import type { Outcome, StepIo } from '../ports/durable.js';
import type { Body, Step } from '../step.js';
import type { TokenKind } from '../token.js';
import { isMutation } from '../view.js';

/** What a code node is told of the tokens with which it fired: `settled` nodes look at failures here. */
export interface Arrival {
  /** Node that sent it. */
  readonly from: string;
  readonly kind: TokenKind;
  readonly error?: ErrorData;
}

/** The second argument of a code node's function. */
export class TaskStep {
  constructor(
    private readonly step: Step,
    private readonly io: StepIo,
  ) {}

  /** Address of the step. */
  get path(): string {
    return this.step.path;
  }

  /** 1 for the first try. */
  get attempt(): number {
    return this.step.attempt;
  }

  get runId(): string {
    return this.step.run.runId;
  }

  /** Aborted when the run is cancelled or the attempt took too long. */
  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** The same for every execution of this step: hand it to services that know idempotency keys. */
  get idempotencyKey(): string {
    return this.io.idempotencyKey;
  }

  /** What came along each in-edge. */
  get arrivals(): readonly Arrival[] {
    const { arrivals, compiled, owner } = this.step;
    return arrivals.flatMap((token, slot) => {
      if (token === undefined) return [];
      const from = owner.nameOf(compiled.sources[slot] ?? -1);
      return [{ from, kind: token.kind, ...(token.error === undefined ? {} : { error: token.error }) }];
    });
  }
}

/** A function: one effect. */
export const taskBody: Body = { start: startTask, take: takeOutcome, perform };

function startTask(step: Step): void {
  const { effect } = step.compiled.node;
  step.follow(step.run.durable.step(step.key, step, effect === undefined ? undefined : { effect }));
}

function perform(step: Step, io: StepIo): unknown {
  const { compiled, owner } = step;
  if (compiled.body === undefined) throw new TypeError(`'${compiled.id}' has no function`);
  return compiled.body(owner.view(step.input), new TaskStep(step, io));
}

function takeOutcome(step: Step, outcome: Outcome): void {
  if (outcome.ok) step.succeed(outcome.value);
  else if (isMutation(outcome.error.name, outcome.error.message)) {
    step.fail({
      ...outcome.error,
      code: 'SKEIN_STATE_MUTATED',
      hint: `'${step.compiled.id}' tried to change the state; return an update instead: it is merged for you`,
    });
  } else step.fail(outcome.error);
}
