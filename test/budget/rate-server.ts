import type { FakeClock } from '../../src/testing/index.js';

/** How a server of a test limits its calls. */
export interface Rate {
  readonly perMinute: number;
  /** Calls that it takes at once when there were none for a while; of a window, all of a minute. */
  readonly burst: number;
  /** All calls of a window come back at its end; else one after the other. */
  readonly windowMs?: number;
  readonly speaks: 'openai' | 'anthropic' | 'nothing';
  /** With a refusal it says when to come back. */
  readonly retryAfter?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes calls at a rate, by a simulated clock, and says so in the headers of a provider. */
export class RateServer {
  taken = 0;
  refused = 0;
  private level: number;
  private at: number;
  private readonly began: number;
  private jumped = 0;

  constructor(
    private readonly rate: Rate,
    private readonly clock: FakeClock,
  ) {
    this.level = rate.burst;
    this.began = this.at = clock.now();
  }

  /** The clock of the caller was set; that of the server goes on. */
  jump(ms: number): void {
    this.jumped += ms;
  }

  answer(): Answer {
    this.refill();
    const isTaken = this.level >= 1;
    if (isTaken) {
      this.level -= 1;
      this.taken += 1;
    } else this.refused += 1;
    return { status: isTaken ? 200 : 429, headers: this.headers(isTaken) };
  }

  private refill(): void {
    const now = this.clock.now() - this.jumped;
    const { perMinute, burst, windowMs } = this.rate;
    if (windowMs === undefined) this.level = Math.min(burst, this.level + ((now - this.at) * perMinute) / 60_000);
    else if (Math.floor((now - this.began) / windowMs) > Math.floor((this.at - this.began) / windowMs))
      this.level = burst;
    this.at = now;
  }

  private get resetMs(): number {
    const { perMinute, burst, windowMs } = this.rate;
    if (windowMs !== undefined) return windowMs - ((this.at - this.began) % windowMs);
    return ((burst - this.level) * 60_000) / perMinute;
  }

  private headers(isTaken: boolean): Record<string, string> {
    const { perMinute, burst, windowMs, speaks, retryAfter = true } = this.rate;
    const next = windowMs === undefined ? ((1 - this.level) * 60_000) / perMinute : this.resetMs;
    const wait: Record<string, string> =
      isTaken || !retryAfter ? {} : { 'retry-after': String(Math.max(1, Math.ceil(next / 1_000))) };
    const figures = [String(burst), String(Math.floor(this.level))] as const;
    if (speaks === 'nothing') return wait;
    if (speaks === 'openai') {
      const reset = this.resetMs < 1_000 ? `${Math.ceil(this.resetMs)}ms` : goDuration(this.resetMs);
      const [limit, remaining] = figures;
      return {
        ...wait,
        'x-ratelimit-limit-requests': limit,
        'x-ratelimit-remaining-requests': remaining,
        'x-ratelimit-reset-requests': reset,
      };
    }
    const at = new Date(Math.ceil((this.at + this.resetMs) / 1_000) * 1_000);
    return {
      ...wait,
      date: new Date(this.at).toUTCString(),
      'anthropic-ratelimit-requests-limit': figures[0],
      'anthropic-ratelimit-requests-remaining': figures[1],
      'anthropic-ratelimit-requests-reset': at.toISOString().replace('.000Z', 'Z'),
    };
  }
}

/** `6m0s`, `1.5s`. */
function goDuration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const seconds = Number(((ms % 60_000) / 1_000).toFixed(3));
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}
