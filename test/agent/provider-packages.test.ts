import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV2, LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { describe, expect, it, vi } from 'vitest';
import { describeProviders } from '../../src/agent/models/describe-providers.js';
import type { LanguageModel } from '../../src/agent/models/language-model.js';
import { fromLanguageModel } from '../../src/agent/models/language-model.js';
import { RESPONSES_STYLE } from '../../src/agent/models/provider-packages.js';
import { FakeProvider } from './support/fake-provider.js';
import { errorOf, outputOf, runAgent, tool } from './support/run-agent.js';

describe('a provider whose package is not installed', () => {
  const env = { AZURE_API_KEY: 'k', AZURE_BASE_URL: 'http://127.0.0.1:1' };

  it('is one clear error that names the package', async () => {
    const { result, step } = await runAgent({ spec: { models: ['azure/gpt-4o'] }, models: { env } });
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_PACKAGE_MISSING', hint: 'npm install @ai-sdk/azure@3' });
    expect(errorOf(result).message).toContain('@ai-sdk/azure');
    expect(step.sleeps).toEqual([]);
  });

  it('is used as soon as it is there, with key and base URL', async () => {
    const asked: unknown[] = [];
    const importPackage = (name: string): Promise<unknown> => {
      asked.push(name);
      return Promise.resolve({
        createAzure: (settings: unknown) => {
          asked.push(settings);
          return (id: string) => v3Model(id, [{ type: 'text-delta', id: '1', delta: 'From Azure.' }, FINISH]);
        },
      });
    };
    const { result } = await runAgent({ spec: { models: ['azure/gpt-4o'] }, models: { env, importPackage } });
    expect(outputOf(result)).toBe('From Azure.');
    expect(asked).toEqual([
      '@ai-sdk/azure',
      { apiKey: 'k', baseURL: 'http://127.0.0.1:1', fetch: expect.any(Function) as unknown },
    ]);
  });

  it('is refused when it is of another generation', async () => {
    const importPackage = () =>
      Promise.resolve({ createAzure: () => () => ({ specificationVersion: 'v4', doStream: () => undefined }) });
    const { result } = await runAgent({ spec: { models: ['azure/gpt-4o'] }, models: { env, importPackage } });
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_PACKAGE_MISSING', hint: 'npm install @ai-sdk/azure@3' });
  });
});

const FINISH: LanguageModelV3StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: {
    inputTokens: { total: 5, noCache: 3, cacheRead: 2, cacheWrite: undefined },
    outputTokens: { total: 4, text: 3, reasoning: 1 },
  },
};

function v3Model(modelId: string, parts: readonly LanguageModelV3StreamPart[]): LanguageModelV3 {
  return {
    specificationVersion: 'v3',
    provider: 'own.chat',
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('streams only')),
    doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) }),
  };
}

describe('any object of the AI SDK is a model', () => {
  async function answerOf(model: LanguageModel) {
    return runAgent({ spec: { models: ['own/m'] }, models: { providers: { own: () => model } } });
  }

  it('of specification 3, with nested counts', async () => {
    const { result, step } = await answerOf(v3Model('m', [{ type: 'text-delta', id: '1', delta: 'Hi.' }, FINISH]));
    expect(outputOf(result)).toBe('Hi.');
    expect(step.of('model.ended')[0]?.usage).toEqual({
      inputTokens: 5,
      outputTokens: 4,
      cachedTokens: 2,
      reasoningTokens: 1,
    });
  });

  it('of specification 2, with flat counts', async () => {
    const old = {
      ...v3Model('m', []),
      specificationVersion: 'v2',
      doStream: () =>
        Promise.resolve({
          stream: ReadableStream.from([
            { type: 'text-delta', id: '1', delta: 'Old.' },
            { type: 'finish', finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } },
          ]),
        }),
    } as unknown as LanguageModelV2;
    const { result, step } = await answerOf(old);
    expect(outputOf(result)).toBe('Old.');
    expect(step.of('model.ended')[0]?.usage).toEqual({ inputTokens: 3, outputTokens: 2 });
  });

  it('but not of a specification that is not known', () => {
    const model = { ...v3Model('m', []), specificationVersion: 'v9' } as unknown as LanguageModelV3;
    expect(() => fromLanguageModel(model)).toThrow(/specification v9/);
  });

  it('an error inside the stream is classified by its words', async () => {
    const { result, step } = await answerOf(
      v3Model('m', [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
    );
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_MODEL_OVERLOADED', retryable: true });
    expect(step.sleeps).toHaveLength(2);
  });

  it('a stream that is left early is given back', async () => {
    let given: () => void = () => undefined;
    const back = new Promise<void>((resolve) => {
      given = resolve;
    });
    const doStream = () =>
      Promise.resolve({
        stream: new ReadableStream<LanguageModelV3StreamPart>({
          start: (controller) => controller.enqueue({ type: 'error', error: 'broken' }),
          cancel: () => given(),
        }),
      });
    const { result } = await answerOf({ ...v3Model('m', []), doStream });
    expect(errorOf(result).message).toContain('broken');
    await back;
  });

  it('a defect of the object is not tried again', async () => {
    const model = { ...v3Model('m', []), doStream: () => Promise.reject(new TypeError('x is undefined')) };
    const { result, step } = await answerOf(model);
    expect(errorOf(result).message).toContain('x is undefined');
    expect(step.sleeps).toEqual([]);
  });

  it('data that a provider puts on a tool call comes back to it', async () => {
    const sent: unknown[] = [];
    const call: LanguageModelV3StreamPart = {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'look',
      input: '{"path":"a"}',
      providerMetadata: { own: { signature: 'abc' } },
    };
    const done: LanguageModelV3StreamPart = { type: 'text-delta', id: '1', delta: 'Done.' };
    const turns: LanguageModelV3StreamPart[][] = [
      [call, FINISH],
      [done, FINISH],
    ];
    const model: LanguageModelV3 = {
      ...v3Model('m', []),
      doStream: (options) => {
        sent.push(options.prompt);
        return Promise.resolve({
          stream: ReadableStream.from(turns.shift() ?? []),
        });
      },
    };
    const { result } = await runAgent({
      spec: { models: ['own/m'] },
      models: { providers: { own: () => model } },
      tools: [tool('look', () => 'seen')],
    });
    expect(outputOf(result)).toBe('Done.');
    expect(JSON.stringify(sent[1])).toContain('"providerOptions":{"own":{"signature":"abc"}}');
  });
});

describe("OpenAI's responses API", () => {
  function own(provider: FakeProvider) {
    const model = createOpenAI({ baseURL: provider.baseUrl, apiKey: 'k' }).responses('gpt-test');
    return { openai: () => fromLanguageModel(model, { ...RESPONSES_STYLE, id: 'openai/gpt-test' }) };
  }

  it('runs the tool loop and stores nothing at the provider', async () => {
    await using provider = await FakeProvider.start(
      { calls: [{ id: 'c1', name: 'look', input: '{"path":"a"}' }] },
      { text: 'Done.', usage: { input: 9, output: 2 } },
    );
    const { result, step } = await runAgent({
      spec: { models: ['openai/gpt-test'] },
      models: { providers: own(provider) },
      tools: [tool('look', () => 'seen')],
    });
    expect(outputOf(result)).toBe('Done.');
    expect(provider.requests.map((request) => request.url)).toEqual(['/v1/responses', '/v1/responses']);
    expect(provider.requests[0]?.body).toMatchObject({ store: false, tools: [{ name: 'look', strict: false }] });
    expect(JSON.stringify(provider.requests[1]?.body['input'])).toContain('"seen"');
    expect(step.of('model.ended')[1]?.usage).toMatchObject({ inputTokens: 9, outputTokens: 2 });
  });

  it("is used at OpenAI's own address; another base URL means chat completions", async () => {
    const asked: string[] = [];
    const fetch = vi.spyOn(globalThis, 'fetch').mockImplementation((input) => {
      asked.push(input instanceof Request ? input.url : String(input));
      return Promise.resolve(Response.json({ error: { message: 'no' } }, { status: 400 }));
    });
    try {
      for (const base of [{}, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }]) {
        const env = { OPENAI_API_KEY: 'k', ...base };
        const { result } = await runAgent({ spec: { models: ['openai/m'] }, models: { env } });
        expect(errorOf(result).code).toBe('SKEIN_MODEL_REFUSED');
      }
    } finally {
      fetch.mockRestore();
    }
    expect(asked).toEqual(['https://api.openai.com/v1/responses', 'http://127.0.0.1:9/v1/chat/completions']);
  });

  it('an answer that breaks off is a network error', async () => {
    await using provider = await FakeProvider.start({ cut: 'All is w', orderly: true });
    const { result } = await runAgent({ spec: { models: ['openai/gpt-test'] }, models: { providers: own(provider) } });
    expect(errorOf(result).code).toBe('SKEIN_NETWORK');
  });
});

describe('what doctor shows', () => {
  it('says for each provider what is there and what is missing, and never a key', async () => {
    const env = {
      OPENAI_API_KEY: 'very-secret',
      OPENAI_BASE_URL: 'https://user:pass@models.example/v1?token=very-secret',
      SKEIN_NO_PROBE: '1',
    };
    const reports = await describeProviders(env);
    const byId = new Map(reports.map((report) => [report.id, report]));
    expect(byId.get('openai')).toMatchObject({
      usable: true,
      package: { name: '@ai-sdk/openai', installed: true },
      key: { variable: 'OPENAI_API_KEY', set: true },
      baseUrl: 'https://models.example/v1',
    });
    expect(byId.get('anthropic')).toMatchObject({ usable: false, hint: 'set ANTHROPIC_API_KEY' });
    expect(byId.get('azure')).toMatchObject({ usable: false, package: { installed: false } });
    expect(byId.get('azure')?.hint).toContain('npm install @ai-sdk/azure');
    expect(byId.get('ollama')).toMatchObject({ usable: false, baseUrl: 'http://127.0.0.1:11434' });
    expect(JSON.stringify(reports)).not.toMatch(/very-secret|user:pass/);
  });

  it('asks a local Ollama for its models', async () => {
    await using provider = await FakeProvider.start();
    provider.ollamaModels = ['qwen3:4b'];
    const reports = await describeProviders({ OLLAMA_HOST: provider.origin });
    expect(reports.find((report) => report.id === 'ollama')).toMatchObject({ usable: true, models: ['qwen3:4b'] });
  });
});

it('a run without a model loads no provider package', async () => {
  const entry = new URL('../../src/agent/index.ts', import.meta.url).href;
  const program = `
    const { createModelRegistry } = await import(${JSON.stringify(entry)});
    const models = await createModelRegistry({ env: {}, mock: true }).resolve({ models: [] }, { path: 'a', agent: 'a' });
    for await (const part of models[0].stream({ caller: { path: '', agent: 'w', turn: 1 }, messages: [], signal: new AbortController().signal })) void part;
  `;
  const scripts = await loadedScripts(program);
  expect(scripts.filter((url) => url.includes('/@ai-sdk/') || url.includes('/node_modules/zod/'))).toEqual([]);
  expect(scripts.some((url) => url.endsWith('/src/agent/models/registry.ts'))).toBe(true);
});

/** What a program loads, by the coverage record that Node itself writes. */
async function loadedScripts(program: string): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-loaded-'));
  try {
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const env = { ...process.env, NODE_V8_COVERAGE: folder };
    await promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      cwd,
      env,
    });
    const files = await readdir(folder);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    return texts.flatMap((text) =>
      (JSON.parse(text) as { result: { url: string }[] }).result.map((script) => script.url),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
