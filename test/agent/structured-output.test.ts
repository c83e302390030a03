import { describe, expect, it } from 'vitest';
import type { StructuredOutput } from '../../src/plan/agent-spec.js';
import { FakeProvider } from './support/fake-provider.js';
import { errorOf, outputOf, runAgent } from './support/run-agent.js';

const output: StructuredOutput = {
  name: 'verdict',
  schema: {
    type: 'object',
    properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
    required: ['approved', 'reason'],
    additionalProperties: false,
  },
};

const GOOD = '{"approved":true,"reason":"small"}';

function openai(provider: FakeProvider, more: Partial<StructuredOutput> = {}) {
  return {
    spec: { models: ['openai/m'], output: { ...output, ...more } },
    models: { env: { OPENAI_BASE_URL: provider.baseUrl } },
  };
}

function bodyOf(provider: FakeProvider): Record<string, unknown> {
  return provider.requests[0]?.body ?? {};
}

describe('a structured output', () => {
  it('is the parsed JSON, and its schema goes to a provider that takes one', async () => {
    await using provider = await FakeProvider.start({ text: GOOD });
    const { result } = await runAgent(openai(provider));
    expect(outputOf(result)).toEqual({ approved: true, reason: 'small' });
    const body = bodyOf(provider);
    expect(body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'verdict', strict: true, schema: output.schema },
    });
    expect(JSON.stringify(body['messages'])).not.toContain('JSON Schema');
  });

  it('is not asked for strictly when the schema leaves things open', async () => {
    await using provider = await FakeProvider.start({ text: '{"a":1}' });
    await runAgent(openai(provider, { schema: { type: 'object', properties: { a: {} } } }));
    expect(provider.requests[0]?.body['response_format']).toMatchObject({ json_schema: { strict: false } });
  });

  it('has its schema in the instructions where the provider takes none', async () => {
    await using provider = await FakeProvider.start({ text: `Here you are:\n\`\`\`json\n${GOOD}\n\`\`\`` });
    const env = { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl };
    const { result } = await runAgent({ spec: { models: ['openai-compatible/m'], output }, models: { env } });
    expect(outputOf(result)).toEqual({ approved: true, reason: 'small' });
    const body = bodyOf(provider);
    expect(body['response_format']).toBeUndefined();
    const [system] = body['messages'] as { content: string }[];
    expect(system?.content).toMatch(/^You review code\.\n\nAnswer with JSON and nothing else/);
    expect(system?.content).toContain(JSON.stringify(output.schema));
  });

  it('is asked of Anthropic too', async () => {
    await using provider = await FakeProvider.start({ text: GOOD });
    const env = { ANTHROPIC_BASE_URL: provider.origin, ANTHROPIC_API_KEY: 'k' };
    await runAgent({ spec: { models: ['anthropic/claude-sonnet-4-5'], output }, models: { env } });
    expect(JSON.stringify(provider.requests[0]?.body)).toContain('"approved"');
  });

  it('gets one repair round that shows what is wrong', async () => {
    await using provider = await FakeProvider.start({ text: '{"approved":"yes"}' }, { text: GOOD });
    const { result, step } = await runAgent(openai(provider));
    expect(outputOf(result)).toEqual({ approved: true, reason: 'small' });
    const messages = provider.requests[1]?.body['messages'] as { role: string; content: string }[];
    expect(messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages[3]?.content).toContain('/approved');
    expect(messages[3]?.content).toContain('reason');
    expect(step.of('model.ended')).toHaveLength(2);
  });

  it('fails visibly after the repair round', async () => {
    await using provider = await FakeProvider.start({ text: 'I would say yes.' });
    const { result } = await runAgent(openai(provider));
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_OUTPUT_INVALID' });
    expect(errorOf(result).message).toContain('the answer is not JSON');
    expect(provider.requests).toHaveLength(2);
  });

  it('warns and keeps the text, where the definition says so', async () => {
    await using provider = await FakeProvider.start({ text: '{"approved":1}' });
    const { result, step } = await runAgent(openai(provider, { onInvalid: 'warn' }));
    expect(outputOf(result)).toBe('{"approved":1}');
    expect(step.of('warning').map((note) => note.code)).toEqual(['output-invalid']);
  });

  it('repairs also at the turn cap', async () => {
    await using provider = await FakeProvider.start({ text: 'no' }, { text: GOOD });
    const { spec, models } = openai(provider);
    const { result } = await runAgent({ spec: { ...spec, maxTurns: 1 }, models });
    expect(outputOf(result)).toEqual({ approved: true, reason: 'small' });
  });
});
