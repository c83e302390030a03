import { describe, expect, it } from 'vitest';
import type { PriceTable } from '../../src/budget/prices.js';
import type { AgentSpec } from '../../src/plan/agent-spec.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import type { Reply } from './support/fake-provider.js';
import { FakeProvider } from './support/fake-provider.js';
import { errorOf, outputOf, runAgent } from './support/run-agent.js';

const FINE: Reply = { text: 'Fine.' };

async function ask(spec: Partial<AgentSpec>, reply = FINE, more: { prices?: PriceTable; notation?: string } = {}) {
  await using server = await FakeProvider.start(reply);
  const { prices, notation } = more;
  const models = { env: server.env, ...(prices === undefined ? {} : { prices }) };
  const { result, step } = await runAgent({ spec, models, before: (own) => Object.assign(own, { notation }) });
  const { max_tokens, max_completion_tokens } = server.requests[0]?.body ?? {};
  return { result, step, sent: max_tokens ?? max_completion_tokens };
}

describe('[15] the output limit that is sent', () => {
  it.each([
    ['anthropic/claude-sonnet-5', 16_384],
    ['anthropic/claude-of-tomorrow', 16_384],
    ['anthropic/claude-3-haiku-20240307', 4_096],
    ['openai/gpt-5-mini', 16_384],
    ['openai/gpt-4o-2024-05-13', 4_096],
    ['openai-compatible/local', undefined],
  ])('to %s is %s by default', async (model, limit) => {
    expect((await ask({ models: [model] })).sent).toBe(limit);
  });

  it('is that of the agent, which wins, or of the prices of the user', async () => {
    expect((await ask({ models: ['openai/gpt-5-mini'], settings: { maxOutputTokens: 20_000 } })).sent).toBe(20_000);
    const prices = { models: { 'openai-compatible/*': { input: 1, output: 1, limit: 900 } } };
    expect((await ask({ models: ['openai-compatible/local'] }, FINE, { prices })).sent).toBe(900);
  });

  it('counts for the reservation of the call', async () => {
    const { step } = await ask({ models: ['anthropic/claude-3-haiku-20240307'] });
    expect(step.made[0]?.reserved.usage.outputTokens).toBe(4_096);
  });

  it('belongs to no identity: what was recorded without one, or with another, holds', async () => {
    const plan = definePlan({
      name: 'limits',
      nodes: [{ id: 'look', kind: 'agent', prompt: 'Look', output: 'seen', agent: { models: ['anthropic/claude-x'] } }],
    });
    const store = memoryStore();
    await using server = await FakeProvider.start(FINE);
    const env = { ANTHROPIC_BASE_URL: server.origin, ANTHROPIC_API_KEY: 'key' };
    const prices = (limit: number): PriceTable => ({ models: { 'anthropic/*': { input: 1, output: 1, limit } } });
    await run(plan, { store, runId: 'a', models: { env }, prices: prices(500) }).result;
    const again = run(plan, { store, runId: 'b', fork: { run: 'a' }, models: { env }, prices: prices(700) });
    expect(await again.result).toMatchObject({ outcome: 'succeeded', state: { seen: 'Fine.' } });
    expect(server.requests.map(({ body }) => body['max_tokens'])).toEqual([500]);
  });
});

describe('[15] an answer that is cut', () => {
  const cut = { text: 'Half of', finish: 'max_tokens' };
  const models = ['anthropic/claude-sonnet-5'];

  it.each([
    ['dag', 'raise max_tokens, or'],
    ['pipeline', 'raise max_tokens, or'],
    ['machine', 'raise max_tokens, or'],
    ['agentfile', 'raise max_tokens in agent.toml, or'],
    ['graph', 'raise maxOutputTokens, or'],
  ])('at the default limit is an error that names the key of %s', async (notation, hint) => {
    const error = errorOf((await ask({ models }, cut, { notation })).result);
    expect(error).toMatchObject({ code: 'SKEIN_MODEL_CAP', hint: expect.stringContaining(hint) as string });
    expect(error.message).toContain('was cut at 16384 tokens');
  });

  it('is an error too when all of it was reasoning', async () => {
    const error = errorOf((await ask({ models }, { ...cut, text: '' })).result);
    expect(error.code).toBe('SKEIN_MODEL_CAP');
  });

  it('is used with a warning where the agent set the limit, or the model gives no more', async () => {
    for (const spec of [{ models, settings: { maxOutputTokens: 100 } }, { models: ['anthropic/claude-3-haiku'] }]) {
      const { result, step } = await ask(spec, cut);
      expect(outputOf(result)).toBe('Half of');
      expect(step.of('warning').map(({ code }) => code)).toContain('answer-cut');
    }
  });

  it.each(['Half of', ''])('because the context window is full says so, whatever the limit: %j', async (text) => {
    const full = { text, finish: 'model_context_window_exceeded' };
    for (const settings of [{}, { maxOutputTokens: 100 }]) {
      const error = errorOf((await ask({ models, settings }, full, { notation: 'dag' })).result);
      expect(error).toMatchObject({
        code: 'SKEIN_MODEL_CAP',
        message: 'the answer of agent "reviewer" was cut: the context window of anthropic/claude-sonnet-5 is full',
        hint: expect.stringContaining('a model with a larger window') as string,
      });
      expect(error.hint).not.toContain('max_tokens');
    }
  });

  it('is used when it has all that its schema asks for', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    for (const finish of ['max_tokens', 'model_context_window_exceeded']) {
      const { result } = await ask({ models, output: { schema } }, { finish, text: '{"n":1}' });
      expect(outputOf(result)).toEqual({ n: 1 });
    }
  });
});
