import { stepCancelled } from '../../../base/errors.js';
import type { Limit } from '../../../base/duration.js';
import type { Effect, Outcome, Question, Reserve, StepIo, StepOptions, Ticket, Waiter } from '../../ports/durable.js';
import type { Hold } from '../hold.js';
import type { Spender } from '../run-budget.js';

/** What a ticket asks of its back end. */
interface TicketOwner {
  readonly runId: string;
  readonly inside: {
    ask(ticket: RecordedTicket, name: string, question: Question, limit?: Limit): Promise<unknown>;
    run(ticket: RecordedTicket, key: string, effect: Effect, options: StepOptions): Promise<unknown>;
  };
  /** Absent: no budget holds. */
  readonly budget?: { reserveFor(ticket: RecordedTicket): Reserve } | undefined;
}

/** Something that was started, and the {@link StepIo} of its effect. */
export class RecordedTicket implements Ticket, StepIo, Spender {
  outcome: Outcome | undefined = undefined;
  waiter: Waiter | undefined = undefined;
  answeredBy: string | undefined = undefined;
  /** Place in the order of delivery; known when there is an outcome. */
  order = 0;
  /** What there is to deliver; it may be there before its turn. */
  due: Outcome | undefined = undefined;
  /** When it settled, milliseconds since 1970. */
  at = 0;
  /** Its outcome is taken from the record. */
  replayed = false;
  dropped = false;
  /** It was begun when somebody waited for it already: also what comes of it at once is delivered. */
  late = false;
  /** Its effect is under way, and waits for no answer. */
  running = false;
  /** Questions of its effect that are open. */
  questions = 0;
  /** Effects inside of it that are under way. */
  effects = 0;
  /** When its effect started, milliseconds since 1970. */
  startedAt: number | undefined = undefined;
  /** How long its effect ran, in milliseconds, where that is recorded. */
  ran = 0;
  /** Digest of what it depends on, asked when it was started. */
  id: string | undefined = undefined;
  /** Takes back what was set up for it. */
  undo: (() => void) | undefined = undefined;
  short: Outcome | undefined = undefined;
  holds: Set<Hold> | undefined = undefined;
  ends: (() => void)[] | undefined = undefined;
  private controller: AbortController | undefined = undefined;

  constructor(
    readonly key: string,
    private readonly owner: TicketOwner,
    readonly options: StepOptions | undefined,
  ) {}

  get idempotencyKey(): string {
    return `${this.owner.runId}/${this.key}`;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.dropped) this.controller.abort(stepCancelled());
    }
    return this.controller.signal;
  }

  ask(name: string, question: Question, limit?: Limit): Promise<unknown> {
    return this.owner.inside.ask(this, name, question, limit);
  }

  get reserve(): Reserve | undefined {
    return this.owner.budget?.reserveFor(this);
  }

  run(key: string, effect: Effect, options: StepOptions): Promise<unknown> {
    return this.owner.inside.run(this, key, effect, options);
  }

  drop(): void {
    this.dropped = true;
    this.undo?.();
    this.controller?.abort(stepCancelled());
  }
}
