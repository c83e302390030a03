import type { Clock } from '../../../base/clock.js';
import { toErrorData, type ErrorData } from '../../../base/errors.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { Ledger } from '../../../journal/ledger.js';
import type { Store } from '../../../journal/store.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** A timer that was started but not set yet. */
interface Waiting {
  readonly ticket: RecordedTicket;
  readonly ms: number;
  /** When it fires, milliseconds since 1970; undefined if `ms` after it is set. */
  readonly due: number | undefined;
}

/** The timers of a run. They are set once the run has caught up with its record: until then, expired timers are found in the record. */
export class RecordedTimers {
  private waiting: Waiting[] = [];
  private set = 0;

  constructor(
    private readonly clock: Clock,
    private readonly ledger: Ledger,
    private readonly journal: Journal,
    private readonly ring: (ticket: RecordedTicket) => void,
  ) {}

  /** True while timers are set that continue across a restart. */
  get lasting(): boolean {
    return this.set > 0;
  }

  start(ticket: RecordedTicket, ms: number, fleeting: boolean): void {
    this.waiting.push({ ticket, ms, due: fleeting ? undefined : this.dueOf(ticket.key, ms) });
  }

  attend(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const one of waiting) if (!one.ticket.dropped) this.arm(one);
  }

  private dueOf(key: string, ms: number): number {
    const id = String(ms);
    const known = this.ledger.timer(key);
    if (known !== undefined && known.id === id) return known.due;
    const at = this.clock.now();
    this.journal.write(encodeRecord({ t: 'timer', at, key, id, due: at + ms }));
    return at + ms;
  }

  private arm({ ticket, ms, due }: Waiting): void {
    const counts = due === undefined ? 0 : 1;
    this.set += counts;
    const now = this.clock.now();
    const left = due === undefined ? ms : Math.max(0, due - now);
    ticket.setAt = now;
    const stop = this.clock.setTimer(left, () => {
      this.set -= counts;
      ticket.undo = undefined;
      this.ring(ticket);
    });
    ticket.undo = () => {
      this.set -= counts;
      stop();
    };
  }
}

/** Milliseconds between two checks for a request to cancel. */
const WATCH_MS = 500;

export interface WatchOptions {
  readonly runId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly cancelled: () => void;
  readonly broken: (error: ErrorData) => void;
}

/** Watches for a request to cancel from another process. It reports one once: a second report would cut off what closes the run. */
export class CancelWatch {
  private stopTimer = (): void => undefined;
  private isOver = false;

  constructor(private readonly options: WatchOptions) {
    this.wait();
  }

  /** Looks for a request at once: a run that pauses may end before the next regular look. */
  look(): void {
    const { store, runId, cancelled, broken } = this.options;
    if (this.isOver) return;
    try {
      if (store.run(runId)?.cancelRequested !== true) return;
      this.stop();
      cancelled();
    } catch (error) {
      broken(toErrorData(error));
    }
  }

  stop(): void {
    this.isOver = true;
    this.stopTimer();
  }

  private wait(): void {
    this.stopTimer = this.options.clock.setTimer(WATCH_MS, () => {
      this.wait();
      this.look();
    });
  }
}
