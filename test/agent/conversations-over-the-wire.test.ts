import { describe, expect, it } from 'vitest';
import { agent, agentNode, graph } from 'skein/graph';
import type { Message } from '../../src/agent/model.js';
import { FakeProvider } from './support/fake-provider.js';

const HISTORY: readonly Message[] = [
  { role: 'user', text: 'What is it?' },
  { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'look', input: '{"path":"a"}' }], by: 'ann' },
  { role: 'tool', results: [{ id: 'c1', name: 'look', output: 'seen', isError: false }] },
  { role: 'assistant', text: 'A lamp.', toolCalls: [], by: 'ann' },
];

/** What a provider gets from an agent without tools that takes over a conversation in which another one called them. */
async function bodyFor(model: string, env: (provider: FakeProvider) => Record<string, string>) {
  await using provider = await FakeProvider.start({ text: 'It is broken.' });
  const flow = graph<{ task: string; messages: readonly Message[] }>({ reducers: { messages: 'extend' } })
    .node('ben', agentNode(agent({ name: 'ben', model, instructions: 'You are ben.' }), { conversation: 'messages' }))
    .setEntry('ben');
  const { outcome, state } = await flow.run({ task: 'And?', messages: HISTORY }, { models: { env: env(provider) } });
  expect([outcome, state.messages?.at(-1)]).toMatchObject(['succeeded', { text: 'It is broken.', by: 'ben' }]);
  return provider.requests[0]?.body as {
    messages: unknown[];
    tools?: unknown;
    tool_choice?: unknown;
    system?: unknown;
  };
}

describe('an agent that takes over a conversation with calls of tools that it does not have', () => {
  it('[A7] declares them to Anthropic, which wants that, and forbids them', async () => {
    const body = await bodyFor('anthropic/claude-sonnet-4-5', (provider) => ({
      ANTHROPIC_BASE_URL: provider.origin,
      ANTHROPIC_API_KEY: 'key',
    }));
    expect(body.tools).toMatchObject([{ name: 'look' }]);
    expect(body.tool_choice).toEqual({ type: 'none' });
    expect(body.messages).toMatchObject([
      { role: 'user', content: [{ text: 'What is it?' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { path: 'a' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] },
      { role: 'assistant', content: [{ text: 'A lamp.' }] },
      { role: 'user', content: [{ text: 'And?' }] },
    ]);
    expect(JSON.stringify(body)).not.toContain('"by"');
  });

  it('[A7] tells OpenAI nothing of tools, and gives the calls with their results', async () => {
    const body = await bodyFor('openai/m', (provider) => ({
      OPENAI_BASE_URL: provider.baseUrl,
      OPENAI_API_KEY: 'key',
    }));
    expect([body.tools, body.tool_choice]).toEqual([undefined, undefined]);
    expect(body.messages.map((message) => (message as { role: string }).role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(body.messages[2]).toMatchObject({ tool_calls: [{ id: 'c1', function: { name: 'look' } }] });
    expect(JSON.stringify(body)).not.toContain('"by"');
  });
});
