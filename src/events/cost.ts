/** Tokens of a model call, as counted by the provider. 0 if the provider reported none. */
export interface Usage {
  /** All input tokens, including those read from and written to a cache. */
  readonly inputTokens: number;
  /** All output tokens, including reasoning. */
  readonly outputTokens: number;
  /** Input tokens read from a cache. */
  readonly cachedTokens?: number;
  /** Input tokens written to a cache. */
  readonly cacheWriteTokens?: number;
  /** Output tokens spent on reasoning. */
  readonly reasoningTokens?: number;
}

/** The cost of a call in US dollars: a multiple of 1e-9, rounded up. */
export interface Cost {
  readonly usd: number;
  /** True if the provider did not report what it billed. */
  readonly estimated?: true;
  /** True if nobody is billed: a mock model answered, and `usd` is what the model it replaces would have cost. */
  readonly pretended?: true;
}

/** What a failed call spent, or one about which the provider reported nothing. */
export interface Spent {
  /** The model that was called. */
  readonly model?: string;
  readonly usage: Usage;
  /** Absent if the price of the model is unknown. */
  readonly cost?: Cost;
}

/** Dollars, with flags for estimated and mocked parts. */
export interface Dollars {
  /** US dollars for all calls with a known price. */
  readonly usd: number;
  /** Calls of unknown price. They are not included in `usd`. */
  readonly unpricedCalls: number;
  /** True if part of the amount is estimated. */
  readonly estimated?: true;
  /** The part of `usd` that nobody was billed because mock models replaced others. Absent if none did. */
  readonly pretendedUsd?: number;
}

/** Billionths per dollar. Sums are multiples of a billionth. */
const NANO = 1e9;

/** Adds two amounts in dollars, exact to nine decimals: the sum does not depend on the order of additions. */
export function addUsd(a: number, b: number): number {
  return Math.round((a + b) * NANO) / NANO;
}
