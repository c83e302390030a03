/** What remains of a provider's limit, as reported with an answer. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the full limit is available again. */
  readonly resetMs: number;
}

/** The window in which most providers count, in milliseconds. */
export const MINUTE_MS = 60_000;

/** The share of a reported limit that is never used: other calls may have come in between. */
const MARGIN = 0.01;

/** Recovery is measured once this many are expected back; below this share of them, the limit recovers only at the reset. */
const COMPARED_AT = 5;
const COMES_BACK = 0.3;

/** The remaining amount of one limit, such as requests per minute: calls lower it and time raises it. */
export class Level {
  private level: number;
  private at: number;
  private perMs: number;
  private margin = 0;
  /** Reset time of a limit that recovers all at once. */
  private resetAt: number | undefined = undefined;
  /** The report that the next report is compared with. */
  private compared: { readonly at: number; readonly remaining: number; readonly charged: number } | undefined =
    undefined;

  constructor(
    private limit: number,
    perMs: number,
    now: number,
  ) {
    this.level = limit;
    this.perMs = perMs;
    this.at = now;
  }

  /** A limit set by a person, which holds in every minute: the few calls that may go at once are part of it. */
  static perMinute(limit: number, now: number): Level {
    const atOnce = Math.max(1, Math.floor(limit / 30));
    return new Level(atOnce, (limit - atOnce + 1) / MINUTE_MS, now);
  }

  /** Charges a call. A later correction may charge more or give back. */
  charge(amount: number, now: number): void {
    this.refill(now);
    this.level = Math.min(this.limit, this.level - amount);
  }

  /** Returns the milliseconds until a call may use this amount. A call larger than the limit waits until the full limit is available. */
  waitFor(amount: number, now: number): number {
    this.refill(now);
    const missing = Math.min(amount + this.margin, this.limit) - this.level;
    if (missing <= 0) return 0;
    if (this.resetAt !== undefined) return Math.max(1, this.resetAt - now);
    return Math.ceil(missing / this.perMs);
  }

  /**
   * A provider reports what remains. `charged`: charge of all calls up to the answered one; `since`: that of later, unreported calls.
   */
  told({ limit, remaining, resetMs }: Allowance, charged: number, since: number, now: number): void {
    this.compare(remaining, charged, now);
    this.limit = limit;
    this.margin = Math.floor(limit * MARGIN);
    this.level = Math.min(limit, remaining) - since;
    this.at = now;
    const used = limit - remaining;
    // While little is used, the reset time is shorter than the resolution of a server's report.
    this.perMs = resetMs > 0 && used >= limit / 10 ? used / resetMs : Math.max(1, limit) / MINUTE_MS;
    if (this.resetAt !== undefined) this.resetAt = now + Math.max(1, resetMs);
  }

  /** Most providers release a limit gradually, some all at once. Comparing reports shows which. */
  private compare(remaining: number, charged: number, now: number): void {
    const { compared } = this;
    const expected = compared === undefined ? 0 : (now - compared.at) * this.perMs;
    if (compared !== undefined && expected < COMPARED_AT) return;
    this.compared = { at: now, remaining, charged };
    if (compared === undefined) return;
    const back = remaining - compared.remaining + (charged - compared.charged);
    if (back < expected * COMES_BACK) this.resetAt = now;
    else if (this.resetAt !== undefined && remaining < this.limit * 0.9) this.resetAt = undefined;
  }

  private refill(now: number): void {
    if (this.resetAt === undefined) this.level = Math.min(this.limit, this.level + (now - this.at) * this.perMs);
    else if (now >= this.resetAt) this.level = this.limit;
    this.at = now;
  }
}
