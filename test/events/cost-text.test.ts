import { describe, expect, it, test } from 'vitest';
import { cachedText, costText, usdText } from '../../src/events/cost-text.js';

describe('[15] money in words', () => {
  test.each([
    [0, '$0'],
    [0.31, '$0.31'],
    [0.3, '$0.30'],
    [12, '$12.00'],
    [1234.567, '$1234.57'],
    [0.0004, '$0.0004'],
    [0.000_123_456, '$0.00012'],
    [0.0996, '$0.10'],
    [0.000_000_001, '$0.000000001'],
  ])('%d is %s', (usd, text) => {
    expect(usdText(usd)).toBe(text);
  });

  it('says what is estimated, what is unknown, and what was not billed; unknown is not zero', () => {
    expect(costText({ usd: 0, unpricedCalls: 0 })).toBe('$0');
    expect(costText({ usd: 0.31, unpricedCalls: 0, estimated: true })).toBe('about $0.31');
    expect(costText({ usd: 0, unpricedCalls: 2 })).toBe('cost unknown');
    expect(costText({ usd: 0.31, unpricedCalls: 1 })).toBe('$0.31 and 1 call of unknown price');
    expect(costText({ usd: 0.31, unpricedCalls: 0, pretendedUsd: 0.31 })).toBe('would have cost $0.31');
    expect(costText({ usd: 0.5, unpricedCalls: 0, pretendedUsd: 0.3 })).toBe(
      '$0.20; mock answers would have cost $0.30',
    );
    expect(costText({ usd: 0, unpricedCalls: 0, pretendedUsd: 0 })).toBe('');
  });

  it('says which share of the input came from a cache', () => {
    expect(cachedText({ inputTokens: 1_000, outputTokens: 1, cachedTokens: 620 })).toBe('62% of input from cache');
    expect(cachedText({ inputTokens: 1_000, outputTokens: 1, cachedTokens: 0 })).toBe('');
  });
});
