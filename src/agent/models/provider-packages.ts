import { present } from '../../base/json.js';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { SkeinError } from '../../base/errors.js';
import { limitedAnswer, type AnswerLimits } from '../limited-answer.js';
import type { Endpoint } from './endpoints.js';
import type { LanguageModelOptions } from './language-model.js';
import { installCommand, takesSchema, type ProviderEntry, type ProviderFactory } from '../../plan/providers.js';

/** Loads a package by name; `import` in production. */
export type ImportPackage = (name: string) => Promise<unknown>;

export interface LoadedModel {
  readonly model: LanguageModelV3;
  readonly style: LanguageModelOptions;
}

/** Makes one model object. Packages are loaded here and nowhere else. */
export async function loadModel(
  provider: ProviderEntry,
  modelId: string,
  endpoint: Endpoint,
  importPackage: ImportPackage = (name) => import(name),
): Promise<LoadedModel> {
  const { api } = provider;
  if (typeof api === 'object') return optional(provider, api, { modelId, endpoint, importPackage });
  if (api === 'anthropic') return anthropic(provider, modelId, endpoint);
  const isOpenAi = api === 'openai' && endpoint.baseUrl === undefined;
  return isOpenAi ? openaiResponses(provider, modelId, endpoint) : openaiCompatible(provider, modelId, endpoint);
}

/** The responses API. Nothing is stored at the provider, so a call cannot refer to an earlier result. */
async function openaiResponses(provider: ProviderEntry, modelId: string, endpoint: Endpoint): Promise<LoadedModel> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  // The package would read OPENAI_BASE_URL of the process, which may differ from this environment.
  const openai = createOpenAI({ apiKey: endpoint.key ?? '', baseURL: provider.home ?? '', fetch: fetchAnswer });
  return { model: openai.responses(modelId), style: RESPONSES_STYLE };
}

/** The calling style of OpenAI's responses API. */
export const RESPONSES_STYLE: LanguageModelOptions = {
  structuredOutput: true,
  strictSwitch: true,
  optionsKey: 'openai',
  options: { store: false },
  cache: { key: 'openai', option: 'promptCacheKey' },
  singleToolCalls: { key: 'openai', options: { parallelToolCalls: false } },
  looseTools: true,
  dropCallData: true,
  silentFinishIsCut: true,
};

/** Chat completions at some base URL. Sends a schema only if the provider supports one: others refuse it, or call no tools. */
async function openaiCompatible(provider: ProviderEntry, modelId: string, endpoint: Endpoint): Promise<LoadedModel> {
  const structuredOutput = takesSchema(provider);
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const create = createOpenAICompatible({
    name: provider.id,
    baseURL: endpoint.baseUrl ?? '',
    includeUsage: true,
    fetch: fetchAnswer,
    supportsStructuredOutputs: structuredOutput,
    ...(endpoint.key === undefined ? {} : { apiKey: endpoint.key }),
    ...(provider.id === 'openai' && COUNTS_REASONING.test(modelId) ? { transformRequestBody: withReasoning } : {}),
  });
  return {
    model: create.chatModel(modelId),
    style: {
      structuredOutput,
      strictSwitch: structuredOutput,
      optionsKey: 'openaiCompatible',
      singleToolCalls: { key: provider.id, options: { parallel_tool_calls: false } },
      cache: provider.cache && ('header' in provider.cache ? provider.cache : { key: provider.id, ...provider.cache }),
      silentFinishIsCut: true,
    },
  };
}

/** OpenAI models that refuse `max_tokens`, because their limit counts the reasoning too. */
const COUNTS_REASONING = /^(?:o\d|gpt-[5-9])/;

function withReasoning({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> {
  return limit === undefined ? body : { ...body, max_completion_tokens: limit };
}

async function anthropic(provider: ProviderEntry, modelId: string, endpoint: Endpoint): Promise<LoadedModel> {
  const { createAnthropic } = await import('@ai-sdk/anthropic');
  const create = createAnthropic({
    apiKey: endpoint.key ?? 'none',
    baseURL: endpoint.baseUrl ?? provider.home ?? '',
    fetch: fetchAnswer,
  });
  return {
    model: create.messages(modelId),
    style: {
      structuredOutput: true,
      silentFinishIsCut: true,
      definesUsedTools: true,
      cache: { marks: 'anthropic' },
      singleToolCalls: { key: 'anthropic', options: { disableParallelToolUse: true } },
    },
  };
}

/** Providers whose packages are not installed with Skein. All have the same shape: a factory that returns a function. */
async function optional(
  provider: ProviderEntry,
  api: ProviderFactory,
  { modelId, endpoint, importPackage }: { modelId: string; endpoint: Endpoint; importPackage: ImportPackage },
): Promise<LoadedModel> {
  const loaded = await importPackage(provider.package).catch((error: unknown) => {
    throw missingPackage(provider, error);
  });
  const factory = (loaded as Record<string, unknown>)[api.factory];
  if (typeof factory !== 'function') throw wrongPackage(provider);
  const settings = {
    fetch: fetchAnswer,
    ...present({ apiKey: endpoint.key, baseURL: endpoint.baseUrl }),
  };
  const create = (factory as (settings: object) => unknown)(settings);
  if (typeof create !== 'function') throw wrongPackage(provider);
  const model = (create as (id: string) => LanguageModelV3)(modelId);
  if (model.specificationVersion !== 'v3') throw wrongPackage(provider);
  return { model, style: api.responses === undefined ? { structuredOutput: true } : responsesAs(api.responses) };
}

/** The responses API of another provider, whose options have their own key. */
function responsesAs(key: string): LanguageModelOptions {
  const cache = { key, option: 'promptCacheKey' };
  return {
    ...RESPONSES_STYLE,
    cache,
    optionsKey: key,
    singleToolCalls: { key, options: { parallelToolCalls: false } },
  };
}

/** A stream of the longest answers that models give, with some hundred bytes around each word, is a fraction of this. */
const LIMITS: AnswerLimits = { message: 32 * 1024 * 1024, stream: 128 * 1024 * 1024 };

/** Sends a request to one host: a redirect would send the prompt, and headers with the key, to an unintended one. */
const fetchAnswer: typeof fetch = async (url, init) => {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  return limitedAnswer(response, LIMITS, tooLong);
};

function tooLong(limit: string): SkeinError {
  return new SkeinError('SKEIN_MODEL_FAILED', `the provider answered with more than ${limit}`, { retryable: false });
}

function missingPackage(provider: ProviderEntry, cause: unknown): SkeinError {
  return new SkeinError(
    'SKEIN_PACKAGE_MISSING',
    `${provider.title} needs the package ${provider.package}, which is not installed`,
    {
      hint: installCommand(provider),
      cause,
    },
  );
}

function wrongPackage(provider: ProviderEntry): SkeinError {
  return new SkeinError(
    'SKEIN_PACKAGE_MISSING',
    `the installed ${provider.package} is of a version that does not fit`,
    {
      hint: installCommand(provider),
    },
  );
}
