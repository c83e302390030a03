import { describe, expect, it } from 'vitest';
import type { PriceTable } from '../../src/budget/prices.js';
import { spentOf } from '../../src/events/spending.js';
import type { Reply } from './support/fake-provider.js';
import { FakeProvider } from './support/fake-provider.js';
import { runAgent } from './support/run-agent.js';

type Provider = 'openai' | 'anthropic' | 'openai-compatible' | 'openrouter';

interface Asked {
  readonly provider: Provider;
  readonly model: string;
  readonly prices?: PriceTable;
  readonly cache?: '1h';
}

/** One step of an agent that asks a server on loopback. */
async function ask({ provider, model, prices, cache }: Asked, ...replies: readonly Reply[]) {
  await using server = await FakeProvider.start(...replies);
  const env = { ...server.env, OPENROUTER_API_KEY: 'key' };
  const spec = {
    models: [`${provider}/${model}`],
    ...(cache === undefined ? {} : { cache }),
    ...(provider === 'openrouter' ? { provider: { type: 'openrouter', baseUrl: server.baseUrl } } : {}),
  };
  const { step } = await runAgent({ spec, models: { env, ...(prices === undefined ? {} : { prices }) } });
  return {
    ended: step.of('model.ended')[0],
    failed: step.of('model.failed')[0],
    reserved: step.made[0]?.reserved,
  };
}

const OWN: PriceTable = { models: { 'openai-compatible/*': { input: 1, output: 10 } } };
const LOCAL = { provider: 'openai-compatible', model: 'local' } as const;

describe('[15] a call costs', () => {
  it('by the table that comes with Skein, reads and writes of a cache apart', async () => {
    const raw = {
      input_tokens: 100,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 2_000,
      output_tokens: 50,
    };
    const { ended } = await ask(
      { provider: 'anthropic', model: 'claude-haiku-4-5' },
      { text: 'Fine.', usage: { raw } },
    );
    expect(ended?.usage).toMatchObject({
      inputTokens: 3_100,
      cachedTokens: 1_000,
      cacheWriteTokens: 2_000,
      outputTokens: 50,
    });
    expect(ended?.cost).toEqual({ usd: 0.002_95 });
    const kept = { provider: 'anthropic', model: 'claude-haiku-4-5', cache: '1h' } as const;
    const hour = await ask(kept, { text: 'Fine.', usage: { raw } });
    expect(hour.ended?.cost).toEqual({ usd: 0.004_45 });
  });

  it('an unknown sum where no price is known, not nothing', async () => {
    const { ended } = await ask(LOCAL, { text: 'Fine.' });
    expect(ended).not.toHaveProperty('cost');
  });

  it('by the prices of the user, who wins over the table', async () => {
    const prices = {
      models: { 'openai/gpt-5*': { input: 2, output: 3 }, 'openai/gpt-5-mini': { input: 1, output: 10 } },
    };
    const { ended } = await ask(
      { provider: 'openai', model: 'gpt-5-mini', prices },
      { text: 'Fine.', usage: { input: 40, output: 6 } },
    );
    expect(ended?.cost).toEqual({ usd: 0.000_1 });
  });

  it('what OpenRouter says that it billed, whatever the prices', async () => {
    const raw = {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 110,
      cost: 0.001_234_567_89,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 },
    };
    const prices = { models: { '*': { input: 1, output: 10 } } };
    const { ended } = await ask(
      { provider: 'openrouter', model: 'some/model', prices },
      { text: 'Fine.', usage: { raw } },
    );
    expect(ended).toMatchObject({ cost: { usd: 0.001_234_568 }, usage: { cachedTokens: 20, cacheWriteTokens: 30 } });
  });

  it.each([
    ['nothing is counted', 'none'],
    ['a count is below nothing', { raw: { prompt_tokens: -5, completion_tokens: 7 } }],
    ['a count is absurd', { raw: { prompt_tokens: 11, completion_tokens: 1e12 } }],
  ] as const)('what was reserved, estimated, where %s', async (_why, usage) => {
    const { ended, reserved } = await ask({ ...LOCAL, prices: OWN }, { text: 'Fine.', usage });
    expect(ended?.usage).toEqual(reserved?.usage);
    expect(ended?.usage.outputTokens).toBe(16_384);
    expect(ended?.cost).toEqual({ ...reserved?.cost, estimated: true });
    expect(ended?.cost?.usd).toBeGreaterThan(0.163_84);
  });

  it('with the reasoning that some servers count beside the output', async () => {
    const raw = {
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 28,
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    const { ended } = await ask({ ...LOCAL, prices: OWN }, { text: 'Fine.', usage: { raw } });
    expect(ended).toMatchObject({ usage: { outputTokens: 23, reasoningTokens: 20 }, cost: { usd: 0.000_235 } });
  });
});

describe('[15] a call that fails', () => {
  it('spent what was reserved once the provider had begun to answer', async () => {
    const { failed, reserved } = await ask({ ...LOCAL, prices: OWN }, { cut: 'The fi' });
    expect(failed && spentOf(failed.error)).toEqual(reserved);
    expect(reserved?.cost).toMatchObject({ estimated: true });
  });

  it.each([401, 429, 503])('spent nothing where the server refused it with %i', async (status) => {
    const { failed } = await ask({ ...LOCAL, prices: OWN }, { status, headers: { 'retry-after': '100' } });
    expect(failed?.error.code).toMatch(/^SKEIN_MODEL/);
    expect(failed && spentOf(failed.error)).toBeUndefined();
  });
});

describe('[15] a mock run', () => {
  const usage = { inputTokens: expect.any(Number) as number, outputTokens: expect.any(Number) as number };

  it('says what the model that an agent names would have cost', async () => {
    const spec = { models: ['anthropic/claude-opus-4-1'] };
    const { step } = await runAgent({ spec, models: { mock: true } });
    const [ended] = step.of('model.ended');
    expect(ended).toMatchObject({ model: 'mock/echo', usage, cost: { pretended: true } });
    const { inputTokens = 0, outputTokens = 0 } = ended?.usage ?? {};
    expect(ended?.cost?.usd).toBeCloseTo((inputTokens * 15 + outputTokens * 75) / 1e6, 9);
  });

  it.each([[[]], [['openai-compatible/local']], [['mock/echo']]])(
    'costs nothing where the agent names %j',
    async (models) => {
      const { step } = await runAgent({ spec: { models }, models: { mock: true } });
      expect(step.of('model.ended')[0]?.cost).toEqual({ usd: 0, pretended: true });
    },
  );
});
