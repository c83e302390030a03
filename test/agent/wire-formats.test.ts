import { describe, expect, it } from 'vitest';
import { FakeProvider } from './support/fake-provider.js';
import { outputOf, runAgent, tool } from './support/run-agent.js';

const FORMATS = [
  {
    name: 'OpenAI chat completions',
    spec: { models: ['openai/gpt-test'] },
    env: (provider: FakeProvider) => ({ OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'key-chat' }),
    path: '/v1/chat/completions',
  },
  {
    name: 'Anthropic messages',
    spec: { models: ['anthropic/claude-test'] },
    env: (provider: FakeProvider) => ({ ANTHROPIC_BASE_URL: provider.origin, ANTHROPIC_API_KEY: 'key-messages' }),
    path: '/v1/messages',
  },
  {
    name: 'an OpenAI-compatible server',
    spec: { models: ['openai-compatible/local'] },
    env: (provider: FakeProvider) => ({ OPENAI_COMPATIBLE_BASE_URL: `${provider.baseUrl}/` }),
    path: '/v1/chat/completions',
  },
  {
    name: 'Ollama',
    spec: { models: ['ollama/llama3.2:1b'] },
    env: (provider: FakeProvider) => ({ OLLAMA_HOST: provider.origin.slice('http://'.length) }),
    path: '/v1/chat/completions',
  },
] as const;

describe.each(FORMATS)('an agent over $name', ({ spec, env, path }) => {
  it('streams text and counts tokens', async () => {
    await using provider = await FakeProvider.start({
      text: 'All is well in this change.',
      usage: { input: 40, output: 6 },
    });
    const { result, step } = await runAgent({ spec, models: { env: env(provider) } });
    expect(outputOf(result)).toBe('All is well in this change.');
    const deltas = step.of('model.delta').map((note) => note.text);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe('All is well in this change.');
    expect(step.of('model.ended')[0]).toMatchObject({
      model: spec.models[0],
      usage: { inputTokens: 40, outputTokens: 6 },
    });
    expect(provider.requests.map((request) => request.url)).toEqual([path]);
    expect(JSON.stringify(provider.requests[0]?.body)).toContain('You review code.');
  });

  it('runs the tool calls of a turn in parallel and gives the results back in call order', async () => {
    await using provider = await FakeProvider.start(
      {
        text: 'Looking.',
        calls: [
          { id: 'c1', name: 'look', input: '{"path":"first"}' },
          { id: 'c2', name: 'look', input: '{"path":"second"}' },
        ],
      },
      { text: 'Both are fine.' },
    );
    const started: string[] = [];
    let release: () => void = () => undefined;
    const secondStarted = new Promise<void>((resolve) => {
      release = resolve;
    });
    const look = tool('look', async (input) => {
      const file = input['path'] as string;
      started.push(file);
      if (file === 'second') release();
      await secondStarted;
      return `content of ${file}`;
    });
    const { result, step } = await runAgent({ spec, models: { env: env(provider) }, tools: [look] });
    expect(outputOf(result)).toBe('Both are fine.');
    expect(started).toEqual(['first', 'second']);
    expect(step.effects).toEqual(['open', 'model#1', 'tool#1.1', 'tool#1.2', 'model#2', 'close']);
    expect(step.effectKinds.get('tool#1.1')).toBe('read');
    const second = JSON.stringify(provider.requests[1]?.body);
    expect(second.indexOf('content of first')).toBeGreaterThan(0);
    expect(second.indexOf('content of second')).toBeGreaterThan(second.indexOf('content of first'));
    expect(step.of('tool.ended').map((note) => note.status)).toEqual(['ok', 'ok']);
  });

  it('[XP7] asks for one tool call a turn where the settings say so, and makes what comes all the same one after the other', async () => {
    await using provider = await FakeProvider.start(
      {
        text: 'Looking.',
        calls: [
          { id: 'c1', name: 'look', input: '{"path":"first"}' },
          { id: 'c2', name: 'look', input: '{"path":"second"}' },
        ],
      },
      { text: 'Both are fine.' },
    );
    const log: string[] = [];
    const look = tool('look', async (input) => {
      const file = input['path'] as string;
      log.push(`${file} begins`);
      await new Promise((done) => setImmediate(done));
      log.push(`${file} ends`);
      return 'content';
    });
    const single = { ...spec, settings: { singleToolCalls: true } };
    const { result } = await runAgent({ spec: single, models: { env: env(provider) }, tools: [look] });
    expect(outputOf(result)).toBe('Both are fine.');
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
    const body = JSON.stringify(provider.requests[0]?.body);
    expect(body).toMatch(/"parallel_tool_calls":false|"disable_parallel_tool_use":true/);
  });

  it('reports an answer that is cut in the middle as a network error and tries again', async () => {
    await using provider = await FakeProvider.start({ cut: 'All is w' }, { text: 'All is well.' });
    const { result, step } = await runAgent({ spec, models: { env: env(provider) } });
    expect(outputOf(result)).toBe('All is well.');
    expect(step.of('model.retrying').map((note) => [note.error.code, note.delayMs])).toEqual([['SKEIN_NETWORK', 500]]);
    expect(step.sleeps).toEqual([500]);
  });

  it('takes an answer that ends without a finish for a cut one', async () => {
    await using provider = await FakeProvider.start({ cut: 'All is w', orderly: true }, { text: 'All is well.' });
    const { result, step } = await runAgent({ spec, models: { env: env(provider) } });
    expect(outputOf(result)).toBe('All is well.');
    expect(step.of('model.retrying').map((note) => note.error.code)).toEqual(['SKEIN_NETWORK']);
  });
});
