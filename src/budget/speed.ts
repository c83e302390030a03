/** Calls at once before a provider has answered any. */
const FIRST_CALLS = 16;
/** Wait after a refusal that names none, in milliseconds; doubles with each further one. */
const FIRST_HOLD_MS = 1_000;
const MOST_DOUBLINGS = 6;
/** After a refusal, calls go on at this share of the rate that was taken before. */
const SLOWER = 0.85;
/** So much faster they become in each second without a refusal, until the rate is not looked at any more. */
const FASTER = 1.02;
const PACED_MS = 120_000;
/** The rate that was taken is that of about so much time, in milliseconds. */
const MEASURED_MS = 5_000;

/** A call that was refused. */
interface Refusal {
  /** The server told of a limit that is used up: that says all. */
  readonly isShort: boolean;
  readonly now: number;
  /** Calls under way. */
  readonly running: number;
  /** Number of the newest call. */
  readonly admitted: number;
}

/** How many calls at once, and how fast, where a provider does not tell its limits: down by a refusal, up by what it takes. */
export class Speed {
  private allowed = FIRST_CALLS;
  /** No call was refused yet: each answer allows one more. */
  private isNew = true;
  /** Calls up to this one were made before the last refusal was known. */
  private refusedUpTo = 0;
  private refusals = 0;
  private taken = 0;
  private takenSince = 0;
  /** Calls in a millisecond as it was at a time, and when the next may be made. */
  private pace: { readonly rate: number; readonly since: number; next: number } | undefined = undefined;

  /** Milliseconds until one more call may be made; without end: when one has ended. */
  waitFor(running: number, now: number): number {
    if (running >= Math.floor(this.allowed)) return Number.POSITIVE_INFINITY;
    return this.pace === undefined ? 0 : Math.max(0, this.pace.next - now);
  }

  /** A call is made. */
  starts(now: number): void {
    const rate = this.rate(now);
    if (this.pace !== undefined && rate !== undefined) this.pace.next = Math.max(this.pace.next + 1 / rate, now);
  }

  /** A call was taken. A bound that was not reached stays. */
  takes(running: number, now: number): void {
    this.refusals = 0;
    this.measure(now);
    this.taken += 1;
    if (running >= Math.floor(this.allowed)) this.allowed += this.isNew ? 1 : 1 / this.allowed;
  }

  /** A call was refused: gives for how long nothing is sent if the server does not say. */
  refuses(number: number, { isShort, now, running, admitted }: Refusal): number {
    // Those that were under way are refused for the same reason.
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
    const rate = Math.max(1, this.taken) / Math.max(FIRST_HOLD_MS, now - this.takenSince);
    this.pace = { rate: SLOWER * Math.min(rate, this.rate(now) ?? rate), since: now, next: now };
    return hold;
  }

  private rate(now: number): number | undefined {
    if (this.pace === undefined) return undefined;
    const since = now - this.pace.since;
    if (since > PACED_MS) this.pace = undefined;
    return this.pace === undefined ? undefined : this.pace.rate * FASTER ** (since / 1_000);
  }

  /** What is longer ago counts less and less. */
  private measure(now: number): void {
    if (now - this.takenSince < 2 * MEASURED_MS) return;
    this.taken /= (now - this.takenSince) / MEASURED_MS;
    this.takenSince = now - MEASURED_MS;
  }
}
