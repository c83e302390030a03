import { checkOptions, type OptionForms } from '../../base/options.js';
import type { LanguageModelV2, LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { Cost, Usage } from '../../events/event.js';
import { isPlainObject, ownValue, present, type JsonObject } from '../../base/json.js';
import type { FinishReason, Model, ModelPart, ModelRequest } from '../model.js';
import { callOptions, type CallStyle } from './call-options.js';
import {
  cutStream,
  isCutStream,
  modelError,
  notStreamed,
  pageError,
  refusalIn,
  streamError,
  type ErrorSource,
} from './model-errors.js';

/** A model object of the AI SDK, of specification version 3 or 2. */
export type LanguageModel = LanguageModelV3 | LanguageModelV2;

/** Options of {@link fromLanguageModel}. */
export interface LanguageModelOptions extends Partial<CallStyle> {
  /** `provider/model`; defaults to the object's own names. */
  readonly id?: string;
  /** Keys that must not appear in messages. */
  readonly secrets?: readonly string[];
  readonly keyEnv?: string | undefined;
  /** Why the key is not sent, and what to do if it is needed. */
  readonly withheld?: string | undefined;
  /** The package reports a finish reason `other` without the provider's word when the connection ends early: treat that as a cut stream. */
  readonly silentFinishIsCut?: boolean;
}

const OPTIONS: OptionForms<LanguageModelOptions> = {
  id: 'text',
  secrets: 'a list of texts',
  keyEnv: 'text',
  withheld: 'text',
  silentFinishIsCut: 'true or false',
  optionsKey: 'text',
  options: 'an object',
  structuredOutput: 'true or false',
  strictSwitch: 'true or false',
  looseTools: 'true or false',
  singleToolCalls: 'an object',
  definesUsedTools: 'true or false',
  cache: 'an object',
  dropCallData: 'true or false',
};

/**
 * Wraps any object that implements the AI SDK's `LanguageModel` specification as a {@link Model}: one streaming request for each call, no
 * retries, errors with Skein's codes.
 *
 * @throws TypeError if the object has another specification version; SkeinError `SKEIN_USAGE` for options that do not exist
 * @example
 * import { createOpenAI } from '@ai-sdk/openai';
 * const model = fromLanguageModel(createOpenAI({ apiKey }).responses('gpt-5-mini'));
 */
export function fromLanguageModel(model: LanguageModel, options: LanguageModelOptions = {}): Model {
  checkOptions<LanguageModelOptions>('fromLanguageModel', options, OPTIONS);
  const version: string = model.specificationVersion;
  if (version !== 'v3' && version !== 'v2') {
    throw new TypeError(`a language model of specification ${version} can't be used; v3 and v2 can`);
  }
  const id = options.id ?? `${model.provider.split('.')[0] ?? model.provider}/${model.modelId}`;
  const style: CallStyle = { ...options, structuredOutput: options.structuredOutput ?? false };
  const { secrets = [], keyEnv, withheld } = options;
  const source: ErrorSource = { model: id, secrets, keyEnv, withheld };
  return {
    id,
    structuredOutput: style.structuredOutput,
    stream: (request) =>
      streamParts(model as LanguageModelV3, request, style, source, options.silentFinishIsCut ?? false),
  };
}

/**
 * True for objects that {@link fromLanguageModel} accepts.
 *
 * @example
 * const model = isLanguageModel(value) ? fromLanguageModel(value) : value;
 */
export function isLanguageModel(value: unknown): value is LanguageModel {
  if (typeof value !== 'object' || value === null) return false;
  const { specificationVersion, doStream } = value as Record<string, unknown>;
  return (specificationVersion === 'v3' || specificationVersion === 'v2') && typeof doStream === 'function';
}

async function* streamParts(
  model: LanguageModelV3,
  request: ModelRequest,
  style: CallStyle,
  source: ErrorSource,
  silentFinishIsCut: boolean,
): AsyncGenerator<ModelPart> {
  const answer: Answer = { contentType: '' };
  let empty = true;
  try {
    for await (const part of openStream(model, request, style, source, answer)) {
      if (part.type === 'stream-start') {
        yield { type: 'begun' };
        yield* warningsOf(part.warnings, request);
      }
      const mapped = mapPart(part, source);
      if (mapped === undefined) continue;
      if (mapped.type === 'finish' && silentFinishIsCut && isSilent(part)) throw cutStream(source);
      empty = false;
      yield mapped;
      if (mapped.type === 'finish') return;
    }
    throw cutStream(source);
  } catch (error) {
    const isJson = empty && /^application\/json\b/i.test(answer.contentType);
    throw isJson && isCutStream(error) ? notStreamed(source) : error;
  }
}

/** What the answer of a provider says of itself, known once it has begun. */
interface Answer {
  contentType: string;
}

/** Reads the provider's stream; releases the connection however it ends. */
async function* openStream(
  model: LanguageModelV3,
  request: ModelRequest,
  style: CallStyle,
  source: ErrorSource,
  answer: Answer,
): AsyncGenerator<LanguageModelV3StreamPart> {
  request.signal.throwIfAborted();
  let reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart> | undefined;
  let ended = false;
  try {
    const { stream, response } = await model.doStream(callOptions(request, style));
    reader = stream.getReader();
    request.heard?.({ status: 200, headers: response?.headers });
    answer.contentType = response?.headers?.['content-type'] ?? '';
    if (/^text\/html\b/i.test(answer.contentType)) throw pageError(source);
    for (;;) {
      const next = await reader.read();
      if (next.done) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } catch (error) {
    ended = true;
    const refusal = refusalIn(error);
    if (refusal !== undefined) request.heard?.(refusal);
    request.signal.throwIfAborted();
    throw modelError(error, source, reader !== undefined);
  } finally {
    if (!ended) await reader?.cancel().catch(() => undefined);
  }
}

/** Converts a part; undefined for parts that carry no content, such as the beginning and end of a text. */
function mapPart(part: LanguageModelV3StreamPart, source: ErrorSource): ModelPart | undefined {
  if (part.type === 'text-delta') return part.delta === '' ? undefined : { type: 'text', text: part.delta };
  if (part.type === 'reasoning-delta') return part.delta === '' ? undefined : { type: 'reasoning', text: part.delta };
  if (part.type === 'error') throw streamError(part.error, source);
  if (part.type === 'finish') {
    const cost = billed(part.usage, source);
    const counted = { type: 'finish', reason: finishReason(part.finishReason), usage: usageOf(part.usage) } as const;
    return cost === undefined ? counted : { ...counted, cost };
  }
  if (isSearch(part)) return { type: 'searched' };
  if (part.type !== 'tool-call') return undefined;
  const data = part.providerMetadata as JsonObject | undefined;
  const call = { id: part.toolCallId, name: part.toolName, input: part.input };
  return { type: 'tool-call', call: data === undefined ? call : { ...call, providerData: data } };
}

/** The provider names what it read, or runs a tool of its own; nobody here sees what that gives. */
function isSearch(part: LanguageModelV3StreamPart): boolean {
  if (part.type === 'tool-call') return part.providerExecuted === true;
  return part.type === 'source' || part.type === 'tool-result';
}

/** Keeps warnings about settings that the agent has; warnings about others, such as a model's limits, are dropped. */
function warningsOf(warnings: readonly unknown[], { settings }: ModelRequest): readonly ModelPart[] {
  return warnings.flatMap((warning): readonly ModelPart[] => {
    // Version 3 names the feature, version 2 the setting.
    const name = ownValue(warning, 'feature') ?? ownValue(warning, 'setting');
    if (typeof name !== 'string' || !Object.hasOwn(settings, name)) return [];
    const details = ownValue(warning, 'details');
    const why = typeof details === 'string' && details !== '' ? `: ${details}` : '';
    return [{ type: 'warning', message: `${name} is not used as it is set${why}` }];
  });
}

const REASONS: ReadonlySet<string> = new Set(['stop', 'length', 'tool-calls', 'content-filter', 'error']);

/** Words of providers that say more than what the packages make of them: `other`, and `length`. */
const RAW: ReadonlyMap<unknown, FinishReason> = new Map([
  ['error', 'error'],
  ['model_context_window_exceeded', 'window'],
]);

/** Version 3 has `{ unified, raw }`, version 2 the word itself. */
function finishReason(reason: unknown): FinishReason {
  const raw = isPlainObject(reason) ? RAW.get(reason['raw']) : undefined;
  if (raw !== undefined) return raw;
  const word = isPlainObject(reason) ? reason['unified'] : reason;
  return typeof word === 'string' && REASONS.has(word) ? (word as FinishReason) : 'other';
}

function isSilent(part: LanguageModelV3StreamPart): boolean {
  return part.type === 'finish' && part.finishReason.unified === 'other' && part.finishReason.raw === undefined;
}

/** Version 3 nests the counts, version 2 does not. Undefined if nothing was counted. */
function usageOf(usage: unknown): Usage | undefined {
  const inputTokens = count(usage, 'inputTokens', 'total') ?? count(usage, 'inputTokens');
  const outputTokens = count(usage, 'outputTokens', 'total') ?? count(usage, 'outputTokens');
  if ((inputTokens ?? 0) === 0 && (outputTokens ?? 0) === 0) return undefined;
  const reasoningTokens = count(usage, 'outputTokens', 'reasoning') ?? count(usage, 'reasoningTokens');
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: (outputTokens ?? 0) + (isApart(usage) ? (reasoningTokens ?? 0) : 0),
    ...present({
      cachedTokens: count(usage, 'inputTokens', 'cacheRead') ?? count(usage, 'cachedInputTokens'),
      cacheWriteTokens:
        count(usage, 'inputTokens', 'cacheWrite') ??
        count(usage, 'raw', 'prompt_tokens_details', 'cache_write_tokens') ??
        count(usage, 'raw', 'input_tokens_details', 'cache_write_tokens'),
      reasoningTokens,
    }),
  };
}

/** Some servers of chat completions (xAI) count reasoning separately from the output: their total shows it. */
function isApart(usage: unknown): boolean {
  const [input = 0, output = 0, total = 0, reasoning = 0] = [
    count(usage, 'raw', 'prompt_tokens'),
    count(usage, 'raw', 'completion_tokens'),
    count(usage, 'raw', 'total_tokens'),
    count(usage, 'raw', 'completion_tokens_details', 'reasoning_tokens'),
  ];
  return reasoning > 0 && total === input + output + reasoning;
}

/** OpenRouter reports the billed amount, in dollars. Other servers may use the field differently. */
function billed(usage: unknown, { model }: ErrorSource): Cost | undefined {
  const usd = model.startsWith('openrouter/') ? count(usage, 'raw', 'cost') : undefined;
  return usd === undefined || usd < 0 ? undefined : { usd: Math.ceil(Number((usd * 1e9).toFixed(3))) / 1e9 };
}

function count(usage: unknown, ...path: readonly string[]): number | undefined {
  let value: unknown = usage;
  for (const key of path) value = ownValue(value, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
