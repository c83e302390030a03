/** Tokens of a model call, as the provider counted them; 0 where it did not say. */
export interface Usage {
  /** All that went in, also from a cache and to it. */
  readonly inputTokens: number;
  /** All that came out, also the reasoning. */
  readonly outputTokens: number;
  /** Part of the input that was read from a cache. */
  readonly cachedTokens?: number;
  /** Part of the input that was written to a cache. */
  readonly cacheWriteTokens?: number;
  /** Part of the output. */
  readonly reasoningTokens?: number;
}

/** What a call costs, in US dollars: a multiple of 1e-9, rounded up. */
export interface Cost {
  readonly usd: number;
  /** The provider did not say what it billed. */
  readonly estimated?: true;
  /** Nobody is billed: a mock model answered, and this is what the model in whose place it stands would have cost. */
  readonly pretended?: true;
}

/** What a call spent that did not end well, or of which the provider said nothing. */
export interface Spent {
  /** The model that was asked. */
  readonly model?: string;
  readonly usage: Usage;
  /** Absent: the price of the model is unknown. */
  readonly cost?: Cost;
}

/** Dollars, and how far they can be trusted. */
export interface Dollars {
  /** US dollars of all calls whose price is known. */
  readonly usd: number;
  /** Calls whose price is unknown: they are not in `usd`. */
  readonly unpricedCalls: number;
  /** Part of it is estimated. */
  readonly estimated?: true;
  /** The part of `usd` that nobody was billed: mock models answered in the place of others. Absent: none did. */
  readonly pretendedUsd?: number;
}

/** Billionths in a dollar: sums are multiples of one. */
const NANO = 1e9;

/**
 * Sum of two amounts in dollars, exact to nine decimals: no order of adding gives another sum.
 *
 * @example
 * addUsd(0.1, 0.2); // 0.3
 */
export function addUsd(a: number, b: number): number {
  return Math.round((a + b) * NANO) / NANO;
}
