/** Concurrent calls before a provider has answered any. */
const FIRST_CALLS = 16;
/** Wait in milliseconds after a refusal that names none. Doubles with each further refusal. */
const FIRST_HOLD_MS = 1_000;
const MOST_DOUBLINGS = 6;
/** After a refusal, calls continue at this share of the accepted rate. */
const SLOWER = 0.85;
/** The factor by which the rate grows each second without a refusal, until it no longer limits calls. */
const FASTER = 1.02;
const PACED_MS = 120_000;
/** The window over which the accepted rate is measured, in milliseconds. */
const MEASURED_MS = 5_000;

interface Refusal {
  /** True if the server reported a limit that is used up, which explains the refusal. */
  readonly isShort: boolean;
  readonly now: number;
  readonly running: number;
  /** Number of the newest call. */
  readonly admitted: number;
}

/** The concurrency and rate of calls if a provider does not report its limits: a refusal lowers them, accepted calls raise them. */
export class Speed {
  private allowed = FIRST_CALLS;
  /** True until a call is refused: each answer permits one more concurrent call. */
  private isNew = true;
  /** Calls up to this number were made before the last refusal was known. */
  private refusedUpTo = 0;
  private refusals = 0;
  private taken = 0;
  private takenSince = 0;
  /** Calls per millisecond since a time, and when the next call may be made. */
  private pace: { readonly rate: number; readonly since: number; next: number } | undefined = undefined;

  /** Milliseconds until one more call may be made. Infinite until a call in flight ends. */
  waitFor(running: number, now: number): number {
    if (running >= Math.floor(this.allowed)) return Number.POSITIVE_INFINITY;
    return this.pace === undefined ? 0 : Math.max(0, this.pace.next - now);
  }

  /** Notes that a call is made. */
  starts(now: number): void {
    const rate = this.rate(now);
    if (this.pace !== undefined && rate !== undefined) this.pace.next = Math.max(this.pace.next + 1 / rate, now);
  }

  /** Notes that a call was accepted. A bound that was not reached stays. */
  takes(running: number, now: number): void {
    this.refusals = 0;
    this.measure(now);
    this.taken += 1;
    if (running >= Math.floor(this.allowed)) this.allowed += this.isNew ? 1 : 1 / this.allowed;
  }

  /** Notes that a call was refused. Returns how long to send nothing if the server does not name a time. */
  refuses(number: number, { isShort, now, running, admitted }: Refusal): number {
    // Calls that were in flight then are refused for the same reason.
    const isKnown = number <= this.refusedUpTo;
    if (!isKnown) {
      this.refusals += 1;
      this.refusedUpTo = admitted;
      this.isNew = false;
    }
    if (isShort) return 0;
    const hold = FIRST_HOLD_MS * 2 ** Math.min(MOST_DOUBLINGS, this.refusals - 1);
    if (isKnown) return hold;
    this.allowed = Math.max(1, Math.min(this.allowed, running) / 2);
    this.measure(now);
    // Refusals arrive before answers: as long as no call was accepted, the accepted rate is unknown, and only fewer calls run at once.
    if (this.taken === 0) return hold;
    const rate = this.taken / Math.max(FIRST_HOLD_MS, now - this.takenSince);
    this.pace = { rate: SLOWER * Math.min(rate, this.rate(now) ?? rate), since: now, next: now };
    return hold;
  }

  private rate(now: number): number | undefined {
    if (this.pace === undefined) return undefined;
    const since = now - this.pace.since;
    if (since > PACED_MS) this.pace = undefined;
    return this.pace === undefined ? undefined : this.pace.rate * FASTER ** (since / 1_000);
  }

  /** Older calls weigh less and less. */
  private measure(now: number): void {
    if (now - this.takenSince < 2 * MEASURED_MS) return;
    this.taken /= (now - this.takenSince) / MEASURED_MS;
    this.takenSince = now - MEASURED_MS;
  }
}
