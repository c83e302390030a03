import type { Clock } from '../../../base/clock.js';
import type { ErrorData } from '../../../base/errors.js';
import { toErrorData } from '../../../base/errors.js';
import { encodeRecord } from '../../../journal/codec.js';
import type { Journal } from '../../../journal/journal.js';
import type { Ledger } from '../../../journal/ledger.js';
import type { Store } from '../../../journal/store.js';
import type { Identity } from '../../ports/durable.js';
import type { RecordedTicket } from './recorded-ticket.js';

/** A timer that was started and is not set yet. */
interface Waiting {
  readonly ticket: RecordedTicket;
  readonly ms: number;
  /** When it rings, milliseconds since 1970; undefined: `ms` after it was set. */
  readonly due: number | undefined;
}

/**
 * The timers of a run. They are set once the run has caught up with its record: until then those that rang are found in it.
 */
export class RecordedTimers {
  private waiting: Waiting[] = [];
  private set = 0;

  constructor(
    private readonly clock: Clock,
    private readonly ledger: Ledger,
    private readonly journal: Journal,
    private readonly ring: (ticket: RecordedTicket) => void,
  ) {}

  /** Timers are under way whose time goes on over a restart. */
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

  /** As recorded, or from now on. */
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
    const left = due === undefined ? ms : Math.max(0, due - this.clock.now());
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

/** A timer is known by its time, and by what it limits: of something else it does not tell that it took too long. */
export function timerIdentity(ms: number, limited: Identity | undefined): Identity {
  if (limited === undefined) return { digest: () => String(ms) };
  const timed = (digest: string): string => `${ms} ${digest}`;
  return {
    digest: () => timed(limited.digest()),
    also: () => limited.also?.().map(timed) ?? [],
    reads: () => limited.reads?.(),
    current: (name) => limited.current?.(name) ?? '',
    heard: () => limited.heard?.(),
    reused: (then) => limited.reused?.(then),
  };
}

/** How often it is looked whether somebody wants the run cancelled, in milliseconds. */
const WATCH_MS = 500;

/** What the watch needs. */
export interface WatchOptions {
  readonly runId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly cancelled: () => void;
  readonly broken: (error: ErrorData) => void;
}

/** Looks for a request to cancel, from another process. Gives what stops it. */
export function watchForCancel(options: WatchOptions): () => void {
  const { clock, store, runId } = options;
  const look = (): void => {
    try {
      if (store.run(runId)?.cancelRequested === true) options.cancelled();
      stop = clock.setTimer(WATCH_MS, look);
    } catch (error) {
      options.broken(toErrorData(error));
    }
  };
  let stop = clock.setTimer(WATCH_MS, look);
  return () => stop();
}
