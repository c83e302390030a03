import { describe, expect, it } from 'vitest';
import type { ModelSettings } from '../../src/plan/agent-spec.js';
import { FakeProvider } from './support/fake-provider.js';
import type { Reply } from './support/fake-provider.js';
import { errorOf, outputOf, runAgent, tool } from './support/run-agent.js';

const LOOK = { calls: [{ id: 'c1', name: 'look', input: '{"path":"a"}' }] };
const look = tool('look', () => 'seen');

interface Where {
  readonly models: readonly string[];
  env(provider: FakeProvider): Record<string, string>;
}

const OPENAI: Where = {
  models: ['openai/m'],
  env: (provider: FakeProvider) => ({ OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'key' }),
};
const ANTHROPIC: Where = {
  models: ['anthropic/claude-sonnet-4-5'],
  env: (provider: FakeProvider) => ({ ANTHROPIC_BASE_URL: provider.origin, ANTHROPIC_API_KEY: 'key' }),
};

/** The bodies that a provider got from an agent with such settings. */
async function bodies(where: Where, settings: ModelSettings, ...replies: Reply[]) {
  await using provider = await FakeProvider.start(...replies);
  const spec = { models: where.models, settings };
  const { result, step } = await runAgent({ spec, models: { env: where.env(provider) }, tools: [look] });
  return { bodies: provider.requests.map(({ body }) => body), result, step };
}

describe('sampling settings', () => {
  it('reach OpenAI: penalties', async () => {
    const settings = { frequencyPenalty: 0.5, presencePenalty: -0.25 };
    const sent = await bodies(OPENAI, settings, { text: 'Done.' });
    expect(sent.bodies[0]).toMatchObject({ frequency_penalty: 0.5, presence_penalty: -0.25 });
  });

  it('reach Anthropic: top_k', async () => {
    const sent = await bodies(ANTHROPIC, { topK: 5 }, { text: 'Done.' });
    expect(sent.bodies[0]).toMatchObject({ top_k: 5 });
  });

  it('that a provider does not take are told once, not once a turn', async () => {
    const sent = await bodies(ANTHROPIC, { frequencyPenalty: 0.5 }, LOOK, { text: 'Done.' });
    expect(sent.bodies).toHaveLength(2);
    expect(sent.step.of('warning')).toEqual([
      {
        kind: 'warning',
        code: 'setting-ignored',
        message: 'anthropic/claude-sonnet-4-5: frequencyPenalty is not used as it is set',
      },
    ]);
  });
});

describe('the choice of tools', () => {
  const CASES: readonly {
    toolChoice: NonNullable<ModelSettings['toolChoice']>;
    openai: unknown[];
    anthropic: unknown[];
  }[] = [
    { toolChoice: 'none', openai: ['none', 'none'], anthropic: [{ type: 'none' }, { type: 'none' }] },
    { toolChoice: 'auto', openai: ['auto', 'auto'], anthropic: [{ type: 'auto' }, { type: 'auto' }] },
    { toolChoice: 'required', openai: ['required', undefined], anthropic: [{ type: 'any' }, undefined] },
    {
      toolChoice: { tool: 'look' },
      openai: [{ type: 'function', function: { name: 'look' } }, undefined],
      anthropic: [{ type: 'tool', name: 'look' }, undefined],
    },
  ];

  it.each(CASES)('$toolChoice is what OpenAI is told; a forced call is only the first', async (one) => {
    const sent = await bodies(OPENAI, { toolChoice: one.toolChoice }, LOOK, { text: 'Done.' });
    expect(outputOf(sent.result)).toBe('Done.');
    expect(sent.bodies.map((body) => body['tool_choice'])).toEqual(one.openai);
    expect(sent.bodies.every((body) => Array.isArray(body['tools']))).toBe(true);
  });

  it.each(CASES)('$toolChoice is what Anthropic is told', async (one) => {
    const sent = await bodies(ANTHROPIC, { toolChoice: one.toolChoice }, LOOK, { text: 'Done.' });
    expect(outputOf(sent.result)).toBe('Done.');
    expect(sent.bodies.map((body) => body['tool_choice'])).toEqual(one.anthropic);
  });

  it('of a tool that the agent does not have fails before the call', async () => {
    const sent = await bodies(OPENAI, { toolChoice: { tool: 'lok' } }, { text: 'Done.' });
    expect(errorOf(sent.result)).toMatchObject({
      code: 'SKEIN_DEFINITION',
      message: 'agent "reviewer" has no tool "lok", which toolChoice names',
    });
    expect(sent.bodies).toEqual([]);
  });

  it('is nothing to an agent without tools', async () => {
    await using provider = await FakeProvider.start({ text: 'Done.' });
    const spec = { models: ['openai/m'], settings: { toolChoice: 'required' as const } };
    await runAgent({ spec, models: { env: OPENAI.env(provider) } });
    expect(provider.requests[0]?.body).not.toHaveProperty('tool_choice');
  });
});
