import type { Clock } from '../../../base/clock.js';
import { settled } from '../../../base/clock.js';
import { MinHeap } from '../../../base/collections.js';
import { stepOf } from '../../../base/address.js';
import type { OpenSession } from '../../../journal/session.js';
import type { Taker } from '../../ports/durable.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** A replay gives way to the event loop after so many deliveries: they take about a millisecond. */
const LONGEST_ROW = 64;

/**
 * R2: hands settled tickets to the interpreter, the lowest order first, each when the interpreter has come to rest.
 */
export class Deliveries {
  /** The time of what was handed over last, milliseconds since 1970. */
  time: number;
  /** When the outcome that was handed over last settled: unlike `time`, it knows nothing of what came in from outside meanwhile. */
  settledAt: number;
  /** Milliseconds in which effects ran whose outcomes were handed over; what ran side by side counts once. */
  worked = 0;
  /** The run goes through its record: it has not caught up, or what was handed over last came from there. */
  replaying: boolean;
  /** The interpreter is at work. */
  busy = false;
  /** Steps of which something happened here: what of them comes from the record after that, such as a clean-up, is not a replay. */
  private readonly fresh: Set<string> | undefined;
  /** Tickets that have an outcome and were not delivered. */
  private readonly queue = new MinHeap((ticket: RecordedTicket) => ticket.order);
  /** Those whose outcome was committed here, in their order, and how many of them were delivered. */
  private committed: readonly RecordedTicket[] = [];
  private handed = 0;
  private taker: Taker | undefined = undefined;
  private waking = false;
  private over = false;

  /** `idle` is called when there is nothing to hand over. */
  constructor(
    { beganAt, goesOn }: Pick<OpenSession, 'beganAt' | 'goesOn'>,
    private readonly clock: Clock,
    private readonly idle: () => void,
  ) {
    this.time = beganAt;
    this.settledAt = beganAt;
    this.replaying = goesOn;
    this.fresh = goesOn ? new Set() : undefined;
  }

  get empty(): boolean {
    return this.first === undefined;
  }

  to(taker: Taker): void {
    this.taker = taker;
    this.wake();
  }

  /** What comes from outside while the interpreter rests happens now, not at the last delivery. */
  takeTime(): void {
    if (!this.busy) this.time = Math.max(this.time, this.clock.now());
  }

  put(ticket: RecordedTicket): void {
    this.queue.put(ticket);
    this.wake();
  }

  /** Puts tickets that have the highest orders so far, in their order. */
  putCommitted(tickets: readonly RecordedTicket[]): void {
    const left = this.committed.length - this.handed;
    this.committed = left === 0 ? tickets : [...this.committed.slice(this.handed), ...tickets];
    this.handed = 0;
  }

  stop(): void {
    this.over = true;
  }

  /** The ticket that comes next. */
  private get first(): RecordedTicket | undefined {
    const one = this.queue.first;
    const other = this.committed[this.handed];
    return one === undefined || (other !== undefined && other.order < one.order) ? other : one;
  }

  private take(first: RecordedTicket): void {
    if (first === this.queue.first) this.queue.take();
    else this.handed += 1;
  }

  /** Looks, once the turn of the event loop is over, whether something can be delivered. */
  wake(): void {
    if (this.waking || this.over) return;
    this.waking = true;
    void settled().then(() => {
      this.waking = false;
      this.pump();
    });
  }

  /**
   * Hands over what can be handed over now, of a long record only a part: timers fire and signals are taken in between. A ticket that
   * cleans up holds up those behind it until it has ended.
   */
  pump(): void {
    let left = LONGEST_ROW;
    while (!this.busy && !this.over && this.taker !== undefined) {
      const { resting } = this.taker;
      const { first } = this;
      if (resting !== undefined) this.pumpAfter(resting);
      else if (first === undefined) {
        this.catchUp(this.taker);
        this.idle();
        return;
      } else if (first.due === undefined && !first.dropped) return;
      else if (first.replayed && left === 0) {
        this.wake();
        return;
      } else {
        if (first.replayed) left -= 1;
        this.take(first);
        if (!first.dropped) this.hand(this.taker, first);
      }
    }
  }

  /** The interpreter is at rest, so that nothing but what is reported of the run sees this time. */
  private catchUp(taker: Taker): void {
    if (!this.replaying) return;
    this.replaying = false;
    this.time = Math.max(this.time, this.clock.now());
    taker.caughtUp();
  }

  private pumpAfter(resting: Promise<void>): void {
    this.busy = true;
    void resting.then(() => {
      this.busy = false;
      this.pump();
    });
  }

  private hand(taker: Taker, ticket: RecordedTicket): void {
    this.busy = true;
    this.time = Math.max(this.time, ticket.at);
    this.worked += Math.max(0, Math.min(ticket.ran, ticket.at - this.settledAt));
    this.settledAt = Math.max(this.settledAt, ticket.at);
    this.replaying = ticket.replayed && this.fresh?.has(stepOf(ticket.key)) !== true;
    if (!ticket.replayed) this.fresh?.add(stepOf(ticket.key));
    ticket.outcome = ticket.due;
    const rest = taker.take(ticket);
    this.busy = false;
    if (rest !== undefined) this.pumpAfter(rest);
  }
}
