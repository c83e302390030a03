import { describe, expect, it } from 'vitest';
import { addAmounts, callAmount, TOOL_CALL } from '../../src/budget/amount.js';
import { estimateCall } from '../../src/budget/estimate.js';

const FIRST = { bytes: 8_001, toolBytes: 600, newBytes: 8_001, maxOutputTokens: 500 };

describe('the estimate of a call', () => {
  it('is half of the bytes of what is sent at first, and a frame; the output is the limit that is sent', () => {
    expect(estimateCall(FIRST)).toEqual({ inputTokens: 4_001 + 300 + 1_000, outputTokens: 500 });
    expect(estimateCall({ ...FIRST, strict: true })).toEqual({ inputTokens: 8_001 + 600 + 1_000, outputTokens: 500 });
  });

  it('is what the last turn was billed, with what is new, from the second turn on', () => {
    const last = { inputTokens: 2_000, cachedTokens: 1_500, outputTokens: 100, reasoningTokens: 40 };
    expect(estimateCall({ ...FIRST, last, newBytes: 31 }).inputTokens).toBe(2_000 + 100 + 16);
    expect(estimateCall({ ...FIRST, last, newBytes: 31, strict: true }).inputTokens).toBe(2_000 + 100 + 31);
  });

  it.each([
    ['nothing', { inputTokens: 0, outputTokens: 0 }],
    ['less than nothing', { inputTokens: -5, outputTokens: 3 }],
    ['no number', { inputTokens: Number.NaN, outputTokens: 3 }],
    ['too much to be true', { inputTokens: 1e300, outputTokens: 3 }],
  ])('takes no account of a usage that says %s', (_name, last) => {
    expect(estimateCall({ ...FIRST, last, newBytes: 1 })).toEqual(estimateCall(FIRST));
  });
});

describe('what a call takes of a budget', () => {
  it('is its tokens and its dollars, and one call', () => {
    const call = callAmount(estimateCall(FIRST), 0.02);
    expect(call).toEqual({ usd: 0.02, tokens: 5_801, calls: 1, toolCalls: 0 });
    expect(addAmounts(call, TOOL_CALL)).toEqual({ ...call, toolCalls: 1 });
  });
});
