import { stepCancelled } from '../../../base/errors.js';
import type { Limit } from '../../../base/duration.js';
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
} from '../../ports/durable.js';
import type { StepOptions } from '../../ports/recording.js';
import type { Hold } from '../hold.js';
import type { Spender } from '../run-budget.js';

/** The services that a ticket needs from its back end. */
interface TicketOwner {
  readonly runId: string;
  readonly inside: {
    ask(ticket: RecordedTicket, name: string, question: Question, limit?: Limit, from?: AnswerSource): Promise<unknown>;
    run(ticket: RecordedTicket, key: string, effect: Effect, options: StepOptions): Promise<unknown>;
    partsOf(ticket: RecordedTicket): Parts;
  };
  /** Absent if no budget applies. */
  readonly budget?: { reserveFor(ticket: RecordedTicket): Reserve } | undefined;
}

/** Something that was started, and the {@link StepIo} of its effect. */
export class RecordedTicket implements Ticket, StepIo, Spender {
  outcome: Outcome | undefined = undefined;
  waiter: Waiter | undefined = undefined;
  answeredBy: string | undefined = undefined;
  /** Position in the order of delivery; set together with the outcome. */
  order = 0;
  /** The outcome to deliver; may be set before its turn. */
  due: Outcome | undefined = undefined;
  /** When it settled, milliseconds since 1970. */
  at = 0;
  replayed = false;
  dropped = false;
  /** True if it began after something already waited for it: even a synchronous outcome is then delivered. */
  late = false;
  /** True while its effect is in progress and waits for no answer. */
  running = false;
  /** Number of open questions of its effect. */
  questions = 0;
  /** Number of effects in progress inside it. */
  effects = 0;
  /** True if all parts of its effect so far were recorded, false if one was performed; undefined if it has none. */
  fromRecord: boolean | undefined = undefined;
  /** When its effect started, milliseconds since 1970. */
  startedAt: number | undefined = undefined;
  setAt: number | undefined = undefined;
  /** True if its effect failed before the call that it was to make. */
  unmade = false;
  /** Duration of its effect in milliseconds, if recorded. */
  ran = 0;
  /** Digest of its dependencies, computed at its start. */
  id: string | undefined = undefined;
  /** Reverts what was set up for the ticket. */
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

  get isOver(): boolean {
    return this.due !== undefined || this.outcome !== undefined || this.dropped;
  }

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

  ask(name: string, question: Question, limit?: Limit, from?: AnswerSource): Promise<unknown> {
    return this.owner.inside.ask(this, name, question, limit, from);
  }

  get reserve(): Reserve | undefined {
    return this.owner.budget?.reserveFor(this);
  }

  run(key: string, effect: Effect, options: StepOptions): Promise<unknown> {
    return this.owner.inside.run(this, key, effect, options);
  }

  get parts(): Parts {
    return this.owner.inside.partsOf(this);
  }

  drop(): void {
    this.dropped = true;
    this.undo?.();
    this.controller?.abort(stepCancelled());
  }
}
