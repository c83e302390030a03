import { systemClock, type Clock } from '../../../base/clock.js';
import { seededRandom } from '../../../base/ids.js';
import type { OpenSession } from '../../../journal/session.js';
import type { Closings, Outcome, Taker } from '../../ports/durable.js';
import type { Identity } from '../../ports/recording.js';
import { Deliveries } from './deliveries.js';
import type { RecordedBudget } from './recorded-budget.js';
import { RecordedOutcomes } from './recorded-outcomes.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** The current state of a recorded run: its record, its time, the number of effects in progress. Reading it starts nothing. */
export abstract class RecordedStand {
  readonly runId: string;
  readonly recorded = true;
  readonly timed = (key: string): boolean => this.outcomes.timed(key);
  abstract readonly budget: RecordedBudget | undefined;
  protected readonly clock: Clock;
  protected readonly outcomes: RecordedOutcomes;
  protected readonly deliveries: Deliveries;
  protected taker: Taker | undefined = undefined;
  protected running = 0;
  private nextOrder: number;

  constructor(
    protected readonly session: OpenSession,
    clock: Clock = systemClock,
  ) {
    this.runId = session.lease.runId;
    this.clock = clock;
    this.nextOrder = session.nextOrder;
    this.outcomes = new RecordedOutcomes(session, (path, isJudged) => this.taker?.outdated(path, isJudged));
    this.deliveries = new Deliveries(session, clock, () => this.idle());
  }

  protected abstract idle(): void;

  isTaken(key: string, identity: Identity): boolean {
    return this.outcomes.isTaken(key, identity);
  }

  isRecorded(key: string, identity?: Identity): boolean {
    return this.outcomes.isRecorded(key, identity);
  }

  get quiet(): boolean {
    return this.running === 0;
  }

  get closings(): Closings | undefined {
    return this.session.closings;
  }

  get replaying(): boolean {
    return this.deliveries.replaying;
  }

  now(): number {
    return this.deliveries.time;
  }

  settledAt(): number {
    return this.deliveries.settledAt;
  }

  worked(): number {
    return this.deliveries.worked;
  }

  random(key: string): number {
    return seededRandom(`${this.session.seed}/${key}`)();
  }

  /** Assigns the next position in the order of outcomes (R1), and the time. */
  protected stamped(ticket: RecordedTicket, outcome: Outcome): Outcome {
    ticket.at = Math.max(this.deliveries.time, this.clock.now());
    ticket.ran = ticket.startedAt === undefined ? 0 : ticket.at - ticket.startedAt;
    ticket.order = this.nextOrder++;
    return outcome;
  }

  protected startRunning(ticket: RecordedTicket): void {
    if (ticket.running) return;
    ticket.running = true;
    this.running += 1;
    this.budget?.works(ticket);
  }

  protected stopRunning(ticket: RecordedTicket): void {
    if (!ticket.running) return;
    ticket.running = false;
    this.running -= 1;
    this.budget?.rests(ticket);
  }
}
