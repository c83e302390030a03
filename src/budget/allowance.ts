/** How many of something a provider still takes, as it says with an answer. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until all of it is there again. */
  readonly resetMs: number;
}

/** Time in which most providers count, in milliseconds. */
export const MINUTE_MS = 60_000;

/** So much of a limit that a provider tells is never used: other calls may have come in between. */
const MARGIN = 0.01;

/** What came back is compared with what was expected when so many were expected; below this share nothing comes back before the reset. */
const COMPARED_AT = 5;
const COMES_BACK = 0.3;

/**
 * What is left of one limit, such as requests in a minute: a level that calls lower and time raises. Times are milliseconds of the governor's own clock, which
 * never goes back.
 */
export class Level {
  private level: number;
  private at: number;
  private perMs: number;
  private margin = 0;
  /** Of a limit that comes back all at once: when. */
  private resetAt: number | undefined = undefined;
  /** The report against which the next one is compared. */
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

  /** A limit of a person, who means each minute: the few that may go at once are part of it. */
  static perMinute(limit: number, now: number): Level {
    const atOnce = Math.max(1, Math.floor(limit / 30));
    return new Level(atOnce, (limit - atOnce + 1) / MINUTE_MS, now);
  }

  /** A call takes some of it; what it took too little is taken later, what it took too much is given back. */
  charge(amount: number, now: number): void {
    this.refill(now);
    this.level = Math.min(this.limit, this.level - amount);
  }

  /** Milliseconds until a call may take so much; a call that is larger than the limit waits until all of it is there. */
  waitFor(amount: number, now: number): number {
    this.refill(now);
    const missing = Math.min(amount + this.margin, this.limit) - this.level;
    if (missing <= 0) return 0;
    if (this.resetAt !== undefined) return Math.max(1, this.resetAt - now);
    return Math.ceil(missing / this.perMs);
  }

  /**
   * A provider says what is left. `charged` is what all calls up to the one that it answers took, `since` what those after it took, which it does not know of yet.
   */
  told({ limit, remaining, resetMs }: Allowance, charged: number, since: number, now: number): void {
    this.compare(remaining, charged, now);
    this.limit = limit;
    this.margin = Math.floor(limit * MARGIN);
    this.level = Math.min(limit, remaining) - since;
    this.at = now;
    const used = limit - remaining;
    // What has just begun to come back comes back within less time than a server writes down.
    this.perMs = resetMs > 0 && used >= limit / 10 ? used / resetMs : Math.max(1, limit) / MINUTE_MS;
    if (this.resetAt !== undefined) this.resetAt = now + Math.max(1, resetMs);
  }

  /** Most providers give back bit by bit, some all at once: that shows in what they say. */
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
