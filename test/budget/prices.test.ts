import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPrices } from '../../src/budget/price-check.js';
import type { Price } from '../../src/budget/prices.js';
import { BUILT_IN_PRICES, costOf, findPrice, priceOf, worstCost } from '../../src/budget/prices.js';
import { PROVIDERS } from '../../src/plan/providers.js';

describe('[15] the table of prices', () => {
  it('is dated, in dollars, and names a source for each provider in it', () => {
    expect(BUILT_IN_PRICES).toMatchObject({
      currency: 'USD',
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
    });
    const unsourced = Object.keys(BUILT_IN_PRICES.models).filter((name) => findPrice(name)?.source === undefined);
    expect(unsourced).toEqual([]);
    expect(() => checkPrices(BUILT_IN_PRICES)).not.toThrow();
  });

  it('has the default models of all providers, and those with short names, with their largest output', () => {
    const known = PROVIDERS.flatMap(({ id, defaultModel, shortNames = {} }) =>
      [...(defaultModel === undefined ? [] : [defaultModel]), ...Object.values(shortNames)].map(
        (name) => `${id}/${name}`,
      ),
    );
    expect(known.length).toBeGreaterThan(3);
    for (const name of known) expect([name, priceOf(name)?.limit]).toEqual([name, expect.any(Number)]);
  });

  it.each([
    ['openai/gpt-5-mini-2025-08-07', 'openai/gpt-5-mini'],
    ['anthropic/claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4-5'],
    ['anthropic/claude-haiku-4.5', 'anthropic/claude-haiku-4-5'],
    ['openai/gpt-4o-2024-05-13', 'openai/gpt-4o-2024-05-13'],
    ['openrouter/anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4-5'],
    ['ollama/llama3.2:1b', 'ollama/*'],
  ])('finds %s as %s', (model, name) => {
    expect(findPrice(model)?.name).toBe(name);
  });

  it.each([
    'openai/gpt-5-mini-tts',
    'openai-compatible/gpt-5-mini',
    'azure/mine',
    'openrouter/openai/gpt-5-mini:nitro',
    'own/m',
    '',
  ])('does not know %j', (model) => {
    expect(findPrice(model)).toBeUndefined();
  });

  it('of the user wins, by the longest name that fits', () => {
    const price = (input: number): Price => ({ input, output: 1 });
    const models = { '*': price(1), 'openai/*': price(2), 'openai/gpt-5*': price(3), 'openai/gpt-5-mini': price(4) };
    const found = (model: string) => findPrice(model, { models })?.price.input;
    const asked = ['openai/gpt-5-mini', 'openai/gpt-5-nano', 'openai/o3', 'anthropic/claude-sonnet-5'];
    expect(asked.map(found)).toEqual([4, 3, 2, 1]);
  });

  it.each([
    [{}, 'an object with "models"'],
    [{ models: { 'gpt-5': { input: 1, output: 1 } } }, 'needs its provider'],
    [{ models: { 'openai/*5': { input: 1, output: 1 } } }, 'a * that is not at its end'],
    [{ models: { 'openai/m': { input: -1, output: 1 } } }, 'input must be a number from 0 up'],
    [{ models: { 'openai/m': { input: 1 } } }, 'output must be a number from 0 up'],
    [
      { models: { 'openai/m': { input: 1, output: 1, above: [{ tokens: NaN, input: 1, output: 1 }] } } },
      'tokens must be',
    ],
  ])('given in code is checked: %j', (table, message) => {
    expect(() => checkPrices(table)).toThrow(message);
  });
});

describe('[15] the cost of a call', () => {
  const price: Price = {
    input: 2,
    cached: 0.2,
    write: 2.5,
    output: 10,
    reasoning: 12,
    above: [{ tokens: 100, input: 4, cached: 0.4, output: 15 }],
  };

  it('counts reads and writes of a cache and reasoning apart, all by the rates for its length', () => {
    const usage = { inputTokens: 100, cachedTokens: 60, cacheWriteTokens: 20, outputTokens: 10, reasoningTokens: 4 };
    expect(costOf(usage, price)).toEqual({ usd: (20 * 2 + 60 * 0.2 + 20 * 2.5 + 6 * 10 + 4 * 12) / 1e6 });
    expect(costOf({ ...usage, inputTokens: 101 }, price)).toEqual({
      usd: (21 * 4 + 60 * 0.4 + 20 * 4 + 10 * 15) / 1e6,
    });
  });

  it('is rounded up to a billionth of a dollar, and by nothing more', () => {
    expect(costOf({ inputTokens: 3, outputTokens: 0 }, { input: 0.1, output: 0 })).toEqual({ usd: 0.000_000_3 });
    expect(costOf({ inputTokens: 1, outputTokens: 0 }, { input: 0.000_1, output: 0 })).toEqual({ usd: 0.000_000_001 });
  });

  it('is never more than the worst cost of so many tokens, whatever is cached', () => {
    const rate = fc.integer({ min: 0, max: 500 }).map((n) => n / 100);
    const rateFields = { input: rate, output: rate, cached: rate, write: rate, reasoning: rate };
    const rates = fc.record(rateFields);
    const tokens = fc.integer({ min: 0, max: 5_000 });
    const calls = fc.record({
      base: rates,
      above: fc.record({ ...rateFields, tokens }),
      usage: fc.record({
        inputTokens: tokens,
        outputTokens: tokens,
        cachedTokens: tokens,
        cacheWriteTokens: tokens,
        reasoningTokens: tokens,
      }),
    });
    fc.assert(
      fc.property(calls, ({ base, above, usage }) => {
        const one: Price = { ...base, above: [above] };
        expect(costOf(usage, one).usd).toBeLessThanOrEqual(worstCost(one, usage).usd);
      }),
    );
  });
});
