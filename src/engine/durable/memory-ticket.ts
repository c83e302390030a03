import type { Limit } from '../../base/duration.js';
import { stepCancelled } from '../../base/errors.js';
import type {
  AnswerSource,
  Effect,
  Outcome,
  Parts,
  Question,
  Reserve,
  StepIo,
  Ticket,
  Waiter,
} from '../ports/durable.js';
import type { StepOptions } from '../ports/recording.js';
import type { Hold } from './hold.js';
import type { Spender, Stand } from './run-budget.js';
import type { RunInside } from './run-inside.js';

/** The services that a ticket needs from its back end. */
interface TicketOwner {
  readonly runId: string;
  ask(name: string, question: Question, ticket: MemoryTicket, limit?: Limit, from?: AnswerSource): Promise<unknown>;
  reserveFor(ticket: MemoryTicket): Reserve | undefined;
  /** Set if the run is part of an effect of a recorded run. */
  readonly inside: RunInside | undefined;
}

/** A ticket that is also the {@link StepIo} of its effect, so that a step costs one object. */
export class MemoryTicket implements Ticket, StepIo, Spender {
  outcome: Outcome | undefined = undefined;
  waiter: Waiter | undefined = undefined;
  answeredBy: string | undefined = undefined;
  dropped = false;
  /** True while its effect is in progress and waits for nothing. */
  running = false;
  /** True if its time counts toward the budget. */
  works = false;
  undo: (() => void) | undefined = undefined;
  /** When its timer was set. */
  setAt: number | undefined = undefined;
  /** Its waits until nothing else runs. */
  stands: Set<Stand> | undefined = undefined;
  /** Number of its parts in progress while others wait. */
  effects = 0;
  short: Outcome | undefined = undefined;
  holds: Set<Hold> | undefined = undefined;
  private controller: AbortController | undefined = undefined;

  constructor(
    readonly key: string,
    private readonly durable: TicketOwner,
  ) {}

  get isOver(): boolean {
    return this.outcome !== undefined || this.dropped;
  }

  get idempotencyKey(): string {
    const { inside, runId } = this.durable;
    return inside?.idempotencyKey(this.key) ?? `${runId}/${this.key}`;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.dropped) this.controller.abort(stepCancelled());
    }
    return this.controller.signal;
  }

  ask(name: string, question: Question, limit?: Limit, from?: AnswerSource): Promise<unknown> {
    return this.durable.ask(name, question, this, limit, from);
  }

  get reserve(): Reserve | undefined {
    return this.durable.reserveFor(this);
  }

  get run(): ((key: string, effect: Effect, options: StepOptions) => Promise<unknown>) | undefined {
    const { inside } = this.durable;
    return inside && ((key, effect, options) => inside.run(this, key, effect, options));
  }

  get parts(): Parts | undefined {
    return this.durable.inside?.partsOf(this);
  }

  /** Releases the controller after the work: an old ticket would otherwise keep newer objects alive in the garbage collector. */
  letGo(): void {
    this.controller = undefined;
  }

  drop(): void {
    this.dropped = true;
    this.undo?.();
    const { stands } = this;
    this.stands = undefined;
    for (const stand of stands ?? []) stand.dropped(stepCancelled());
    this.abort();
  }

  /** Signals its workers to stop. */
  abort(): void {
    this.controller?.abort(stepCancelled());
  }
}
