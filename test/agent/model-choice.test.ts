import { describe, expect, it } from 'vitest';
import type { ModelRegistryOptions } from '../../src/agent/models/registry-options.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import { ollamaHost } from '../../src/agent/models/ollama.js';
import { readModelName } from '../../src/agent/models/model-names.js';
import type { AgentSpec } from '../../src/plan/agent-spec.js';
import { FakeProvider } from './support/fake-provider.js';
import { agentNode } from './support/step.js';
import { errorOf, outputOf, runAgent } from './support/run-agent.js';
import { rejected } from '../thrown.js';

async function chosen(spec: Partial<AgentSpec>, options: Partial<ModelRegistryOptions>): Promise<readonly string[]> {
  const registry = createModelRegistry({ env: {}, noProbe: true, ...options });
  const models = await registry.resolve(agentNode(spec).agent, { path: 'review', agent: 'reviewer' });
  return models.map((model) => model.id);
}

const KEYS = { OPENAI_API_KEY: 'k1', ANTHROPIC_API_KEY: 'k2' };

describe('which model an agent gets (statements 59 and 92)', () => {
  it('the flag replaces the list of the agent', async () => {
    expect(await chosen({ models: ['openai/a', 'openai/b'] }, { env: KEYS, override: 'anthropic/c' })).toEqual([
      'anthropic/c',
    ]);
  });

  it('the list of the agent wins over the environment, in its order', async () => {
    const env = { ...KEYS, SKEIN_MODEL: 'openai/other' };
    expect(await chosen({ models: ['openai/a', 'anthropic/b'] }, { env })).toEqual(['openai/a', 'anthropic/b']);
  });

  it('a name that is given twice is tried once', async () => {
    expect(await chosen({ models: ['openai/a', 'openai/b', 'openai/a'] }, { env: KEYS })).toEqual([
      'openai/a',
      'openai/b',
    ]);
  });

  it('SKEIN_MODEL wins over keys that are set', async () => {
    expect(await chosen({ models: [] }, { env: { ...KEYS, SKEIN_MODEL: 'openai/other' } })).toEqual(['openai/other']);
  });

  it.each([
    [{ ANTHROPIC_API_KEY: 'k' }, 'anthropic/claude-sonnet-5'],
    [{ OPENAI_API_KEY: 'k' }, 'openai/gpt-5-mini'],
  ])('a key that is set chooses its provider', async (env, model) => {
    expect(await chosen({ models: [] }, { env })).toEqual([model]);
  });

  it('"inherit" in an agent file leaves the choice to the environment', async () => {
    expect(await chosen({ models: ['inherit'] }, { env: { OPENAI_API_KEY: 'k' } })).toEqual(['openai/gpt-5-mini']);
  });

  it('a variable that is empty is not set', async () => {
    const error = await rejected(() => chosen({ models: [] }, { env: { OPENAI_API_KEY: '  ' } }));
    expect(error.code).toBe('SKEIN_NO_MODEL');
    expect(error.hint).toContain('--mock');
  });

  it('--mock needs nothing', async () => {
    expect(await chosen({ models: ['openai/a'] }, { mock: true })).toEqual(['mock/echo']);
    const { result, step } = await runAgent({ models: { mock: true }, prompt: 'Say this.' });
    expect(outputOf(result)).toBe('Say this.');
    expect(step.of('model.ended')[0]?.model).toBe('mock/echo');
  });

  it('a name in a list without a key is passed over, visibly; alone it is an error', async () => {
    await using provider = await FakeProvider.start({ text: 'Here.' });
    const env = { OPENAI_BASE_URL: provider.baseUrl };
    const { result, step } = await runAgent({
      spec: { models: ['anthropic/a', 'nobody/b', 'openai/c'] },
      models: { env },
    });
    expect(outputOf(result)).toBe('Here.');
    expect(step.of('model.fallback').map((note) => note.error.code)).toEqual(['SKEIN_NO_KEY', 'SKEIN_MODEL_UNKNOWN']);
    const alone = await runAgent({ spec: { models: ['anthropic/a'] }, models: { env } });
    expect(errorOf(alone.result)).toMatchObject({ code: 'SKEIN_NO_KEY' });
    expect(errorOf(alone.result).message).toContain('ANTHROPIC_API_KEY');
  });
});

describe('a local Ollama', () => {
  it('is used when nothing else is configured: its first model', async () => {
    await using provider = await FakeProvider.start({ text: 'Local.' });
    provider.ollamaModels = ['qwen3:4b', 'llama3.2:1b'];
    const { result, step } = await runAgent({
      spec: { models: [] },
      models: { env: { OLLAMA_HOST: provider.origin }, noProbe: false },
    });
    expect(outputOf(result)).toBe('Local.');
    expect(step.of('model.ended')[0]?.model).toBe('ollama/qwen3:4b');
    expect(provider.requests.map((request) => request.url)).toEqual(['/api/tags', '/v1/chat/completions']);
    expect(provider.requests[1]?.headers.authorization).toBeUndefined();
  });

  it('is not looked for with SKEIN_NO_PROBE=1, nor when a key is set', async () => {
    await using provider = await FakeProvider.start();
    provider.ollamaModels = ['qwen3:4b'];
    const env = { OLLAMA_HOST: provider.origin, SKEIN_NO_PROBE: '1' };
    const error = await rejected(() => chosen({ models: [] }, { env, noProbe: false }));
    expect(error.code).toBe('SKEIN_NO_MODEL');
    await chosen({ models: [] }, { env: { OLLAMA_HOST: provider.origin, OPENAI_API_KEY: 'k' }, noProbe: false });
    expect(provider.requests).toEqual([]);
  });

  it('that has no models, or is none, leads to the error that offers --mock', async () => {
    await using provider = await FakeProvider.start();
    const env = { OLLAMA_HOST: provider.origin };
    const none = await rejected(() => chosen({ models: [] }, { env, noProbe: false }));
    expect(none).toMatchObject({ code: 'SKEIN_NO_MODEL', hint: expect.stringContaining('--mock') as unknown });
    expect(none.hint).toContain('in code models: { mock: true }');
    provider.ollamaModels = 'never';
    const silent = await rejected(() => chosen({ models: [] }, { env, noProbe: false }));
    expect(silent.message).toContain('no local Ollama answers');
    provider.ollamaModels = [];
    const empty = await rejected(() => chosen({ models: [] }, { env, noProbe: false }));
    expect(empty.message).toContain('has no models');
  });

  it.each([
    [undefined, 'http://127.0.0.1:11434'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:9000', 'http://127.0.0.1:9000'],
    [':9000', 'http://127.0.0.1:9000'],
    ['box.local', 'http://box.local:11434'],
    ['http://box.local:1234/v1/', 'http://box.local:1234'],
    ['https://box.local', 'https://box.local:443'],
  ])('OLLAMA_HOST %s means %s', (text, url) => {
    expect(ollamaHost(text)).toBe(url);
  });
});

describe('names of models in agent files', () => {
  it.each([
    ['gpt-4o', 'openai/gpt-4o'],
    ['GPT-4.1 (copilot)', 'openai/gpt-4.1'],
    ['o4-mini', 'openai/o4-mini'],
    ['claude-sonnet-4', 'anthropic/claude-sonnet-4'],
    ['Claude Sonnet 4.5 (Preview) (copilot)', 'anthropic/claude-sonnet-4-5'],
    ['sonnet', 'anthropic/claude-sonnet-5'],
    ['Gemini 2.5 Pro', 'google/gemini-2.5-pro'],
    ['OpenAI/gpt-4o', 'openai/gpt-4o'],
    ['openrouter/meta-llama/llama-3', 'openrouter/meta-llama/llama-3'],
    ['mock', 'mock/echo'],
  ])('%s is %s', (text, id) => {
    const { provider, model } = readModelName(text);
    expect(`${provider}/${model}`).toBe(id);
  });

  it('a name without a provider belongs to the provider of the workflow', () => {
    expect(readModelName('phi4', { type: 'ollama' })).toEqual({ provider: 'ollama', model: 'phi4' });
    expect(readModelName('meta-llama/Llama-3', { type: 'openai-compatible' }).model).toBe('meta-llama/Llama-3');
  });

  it('an unknown provider gets the known ones and the nearest name', async () => {
    const error = await rejected(() => chosen({ models: ['antropic/claude-sonnet-5'] }, { env: KEYS }));
    expect(error.code).toBe('SKEIN_MODEL_UNKNOWN');
    expect(error.hint).toMatch(/did you mean "anthropic"\? known providers: anthropic, openai, /);
  });

  it('a name that nobody knows is an error that says how to write it', async () => {
    const error = await rejected(() => chosen({ models: ['wunderkind'] }, { env: KEYS }));
    expect(error.hint).toContain('ollama/wunderkind');
  });
});

describe('the provider configuration of a workflow (statement 62)', () => {
  it('gives base URL and key variable; the key reaches only the provider', async () => {
    await using provider = await FakeProvider.start({ text: 'Here.' });
    const { result, step } = await runAgent({
      spec: {
        models: ['gpt-x'],
        provider: { type: 'openai', baseUrl: provider.baseUrl, apiKeyEnv: 'TEAM_KEY' },
      },
      models: { env: { TEAM_KEY: 'team-secret', OPENAI_API_KEY: 'other', TEAM_BASE_URL: provider.origin } },
    });
    expect(outputOf(result)).toBe('Here.');
    expect(provider.requests[0]?.headers.authorization).toBe('Bearer team-secret');
    expect(JSON.stringify(step.notes)).not.toContain('team-secret');
  });

  it('with a variable that is empty is an error that names it', async () => {
    const provider = { type: 'openai', apiKeyEnv: 'TEAM_KEY' };
    const error = await rejected(() => chosen({ models: ['gpt-x'], provider }, { env: KEYS }));
    expect(error.code).toBe('SKEIN_NO_KEY');
    expect(error.message).toBe('provider "openai": the variable TEAM_KEY is empty or not set');
  });

  it('does not reach models of other providers', async () => {
    const provider = { type: 'ollama', baseUrl: 'http://127.0.0.1:1' };
    const error = await rejected(() => chosen({ models: ['openai/gpt-x'], provider }, {}));
    expect(error.message).toContain('OPENAI_API_KEY');
  });

  it('chooses the provider also when no model is named', async () => {
    await using ollama = await FakeProvider.start();
    ollama.ollamaModels = ['phi4'];
    const local = { type: 'ollama', baseUrl: `${ollama.baseUrl}/` };
    expect(await chosen({ models: [], provider: local }, { env: KEYS })).toEqual(['ollama/phi4']);
    expect(await chosen({ models: [], provider: { type: 'openai' } }, { env: KEYS })).toEqual(['openai/gpt-5-mini']);
    const error = await rejected(() => chosen({ models: [], provider: { type: 'openai-compatible' } }, { env: KEYS }));
    expect(error).toMatchObject({ code: 'SKEIN_NO_MODEL', hint: expect.stringContaining('--model') as unknown });
  });

  it('openai-compatible needs a base URL', async () => {
    const error = await rejected(() => chosen({ models: ['openai-compatible/m'] }, {}));
    expect(error).toMatchObject({ hint: expect.stringContaining('OPENAI_COMPATIBLE_BASE_URL') as unknown });
  });
});
