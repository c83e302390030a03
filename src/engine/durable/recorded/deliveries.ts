import { settled, type Clock } from '../../../base/clock.js';
import { MinHeap } from '../../../base/collections.js';
import { stepOf } from '../../../base/address.js';
import type { OpenSession } from '../../../journal/session.js';
import type { Taker } from '../../ports/durable.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** Number of deliveries after which a replay yields to the event loop: they take about a millisecond. */
const LONGEST_ROW = 64;

/** R2: passes settled tickets to the interpreter, the lowest order first, each after the interpreter has come to rest. */
export class Deliveries {
  /** The time of the last delivery, milliseconds since 1970. */
  time: number;
  /** When the last delivered outcome settled. Unlike `time`, it ignores what arrived from outside in the meantime. */
  settledAt: number;
  /** Milliseconds of the effects whose outcomes were delivered; parallel effects count once. */
  worked = 0;
  /** True if the run replays its record: it has not caught up, or its last delivery came from the record. */
  replaying: boolean;
  /** True while the interpreter works. */
  busy = false;
  /** Steps with new outcomes: later records of such a step, such as a clean-up, are not a replay. */
  private readonly fresh: Set<string> | undefined;
  /** Tickets with an outcome that are not delivered yet. */
  private readonly queue = new MinHeap((ticket: RecordedTicket) => ticket.order);
  /** Tickets whose outcome was committed in this session, in order, and the number of delivered ones. */
  private committed: readonly RecordedTicket[] = [];
  private handed = 0;
  private taker: Taker | undefined = undefined;
  private waking = false;
  private over = false;

  /** `idle`: called when nothing is left to deliver. */
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

  /** What arrives from outside while the interpreter rests happens at the current time, not at the last delivery. */
  takeTime(): void {
    if (!this.busy) this.time = Math.max(this.time, this.clock.now());
  }

  put(ticket: RecordedTicket): void {
    this.queue.put(ticket);
    this.wake();
  }

  /** Adds tickets with the highest orders so far, in their order. */
  putCommitted(tickets: readonly RecordedTicket[]): void {
    const left = this.committed.length - this.handed;
    this.committed = left === 0 ? tickets : [...this.committed.slice(this.handed), ...tickets];
    this.handed = 0;
  }

  stop(): void {
    this.over = true;
  }

  private get first(): RecordedTicket | undefined {
    const one = this.queue.first;
    const other = this.committed[this.handed];
    return one === undefined || (other !== undefined && other.order < one.order) ? other : one;
  }

  private take(first: RecordedTicket): void {
    if (first === this.queue.first) this.queue.take();
    else this.handed += 1;
  }

  /** Checks, after the turn of the event loop, whether something can be delivered. */
  wake(): void {
    if (this.waking || this.over) return;
    this.waking = true;
    void settled().then(() => {
      this.waking = false;
      this.pump();
    });
  }

  /** Delivers what is ready, a long record in parts. A ticket that cleans up delays those behind it until it has ended. */
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

  /** The interpreter is at rest, so only the reports about the run see this time. */
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
