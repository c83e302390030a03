import { SkeinError, type ErrorCode } from '../../base/errors.js';
import { ownValue, present } from '../../base/json.js';
import { createRedactor } from '../../secrets/redact.js';
import { isNetworkCode, isNetworkMessage } from '../../base/passing-errors.js';
import {
  classifyStatus,
  classifyWords,
  hintFor,
  passing,
  saysModelUnavailable,
  headerMap,
  retryAfterMs,
} from './http-status.js';
import type { Heard } from './rate-headers.js';

export interface ErrorSource {
  /** `provider/model`. */
  readonly model: string;
  /** Texts that must never be shown: keys. */
  readonly secrets: readonly string[];
  readonly keyEnv?: string | undefined;
  /** Set if the key was not sent: what to do about that. */
  readonly withheld?: string | undefined;
}

const CUT = 'the connection was cut in the middle of the answer';

/** Longest piece of a provider's text in a message. */
const LONGEST = 600;

/**
 * Converts an error of a provider package to a SkeinError that tells whether to retry. Returns SkeinErrors unchanged. Removes keys from all
 * messages.
 *
 * @param begun whether the provider had begun to answer
 */
export function modelError(error: unknown, source: ErrorSource, begun = false): SkeinError {
  if (SkeinError.isInstance(error)) return error;
  const own = causeOfOurs(error);
  if (own !== undefined) return made(own.code, own.message, source, present({ retryable: own.retryable }));
  const name = textOf(field(error, 'name')) ?? '';
  if (name === 'AI_LoadAPIKeyError') return keyError(source);
  const status = field(error, 'statusCode');
  if (typeof status === 'number' && !isCut(error)) return statusError(error, status, source);
  const network = networkReason(error);
  if (network !== undefined && begun) return made('SKEIN_NETWORK', `${CUT}: ${network}`, source, { retryable: true });
  if (network !== undefined || name === 'AI_APICallError') {
    const hint = source.model.startsWith('ollama/')
      ? 'start Ollama, or set OLLAMA_HOST to where it answers'
      : 'check the network, and the base URL if one is set';
    return made('SKEIN_NETWORK', `no answer: ${network ?? wordsOf(error)}`, source, { retryable: true, hint });
  }
  if (name === 'AI_InvalidResponseDataError' && /without a finish reason/i.test(wordsOf(error)))
    return cutStream(source);
  if (/^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/.test(name)) {
    return made('SKEIN_MODEL_FAILED', `an answer that can't be read: ${wordsOf(error)}`, source, { retryable: true });
  }
  const code = saysModelUnavailable(wordsOf(error)) ? 'SKEIN_MODEL_UNAVAILABLE' : 'SKEIN_MODEL_FAILED';
  return made(code, wordsOf(error), source);
}

/** Converts an error part inside a stream: an object of the provider, or an error of its package. */
export function streamError(error: unknown, source: ErrorSource): SkeinError {
  if (error instanceof Error) return modelError(error, source, true);
  const words = wordsOf(error);
  const tags = ['type', 'code', 'status'].map((key) => textOf(field(error, key)) ?? '').join(' ');
  const found = classifyWords(`${tags} ${words}`);
  return made(found.code, `the provider broke off with an error: ${words}`, source, passing(found));
}

/** The error for a stream that ended before the model was done. */
export function cutStream(source: ErrorSource): SkeinError {
  return made('SKEIN_NETWORK', CUT, source, { retryable: true });
}

/** True for a stream that ended in good order, but too early. */
export function isCutStream(error: unknown): boolean {
  return SkeinError.isInstance(error) && error.message.endsWith(CUT);
}

/** The error for a web page instead of an answer: the address belongs to something else. */
export function pageError(source: ErrorSource): SkeinError {
  return made('SKEIN_MODEL_FAILED', 'the address answered with a web page', source, {
    hint: 'check the base URL; that of most servers ends with /v1',
  });
}

/** The error for one JSON document instead of a stream. It was paid for, and the next one would be the same, so it is not requested again. */
export function notStreamed(source: ErrorSource): SkeinError {
  return made('SKEIN_MODEL_FAILED', 'the provider answered with one JSON document and not with a stream', source, {
    hint: 'use a server that supports streaming, or switch it on there',
  });
}

export function keyError(source: ErrorSource): SkeinError {
  const where = source.keyEnv === undefined ? 'the key of its provider' : source.keyEnv;
  return new SkeinError('SKEIN_NO_KEY', `${source.model} needs ${where}, which is empty or not set`, {
    hint: `set ${where}, choose another model with --model, or try the run without a model: --mock`,
  });
}

/** Status and headers of the answer that caused an error of a provider package. */
export function refusalIn(error: unknown): Heard | undefined {
  const status = field(error, 'statusCode');
  return typeof status === 'number' ? { status, headers: field(error, 'responseHeaders') } : undefined;
}

function statusError(error: unknown, status: number, source: ErrorSource): SkeinError {
  const words = wordsOf(error);
  const found = classifyStatus(status, `${words} ${textOf(field(error, 'responseBody')) ?? ''}`);
  const wait = retryAfterMs(headerMap(field(error, 'responseHeaders')), Date.now());
  const refused = status === 401 || status === 403;
  const { keyEnv, withheld } = source;
  const hint =
    refused && withheld !== undefined
      ? `${keyEnv ?? 'the key'} was not sent, because only the workflow file names the address; ${withheld}`
      : hintFor(found.code, status, keyEnv);
  return made(found.code, `the provider answered ${status}: ${words}`, source, {
    ...passing(found),
    details: { status },
    ...present({ hint, retryAfterMs: wait }),
  });
}

function made(
  code: ErrorCode,
  words: string,
  source: ErrorSource,
  options: ConstructorParameters<typeof SkeinError>[2] = {},
): SkeinError {
  // A provider may quote the key, in another form or cut off with the rest of its words.
  const safe = createRedactor(source.secrets).text(words);
  return new SkeinError(code, `${source.model}: ${safe}`, options);
}

/** An error of Skein itself that ended the answer, in what a provider package made of it. */
function causeOfOurs(error: unknown): SkeinError | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    if (SkeinError.isInstance(current)) return current;
    current = current.cause;
  }
  return undefined;
}

function isCut(error: unknown): boolean {
  const status = field(error, 'statusCode');
  return typeof status === 'number' && status < 400 && networkReason(error) !== undefined;
}

function networkReason(error: unknown): string | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < 8 && typeof current === 'object' && current !== null; depth++) {
    const code = textOf(field(current, 'code'));
    if (code !== undefined && isNetworkCode(code)) return `${wordsOf(current)} (${code})`;
    const message = textOf(field(current, 'message'));
    if (current instanceof TypeError && message !== undefined && isNetworkMessage(message)) {
      return networkReason(field(current, 'cause')) ?? message;
    }
    current = field(current, 'cause');
  }
  return undefined;
}

function wordsOf(error: unknown): string {
  const nested = field(error, 'error');
  const own = textOf(field(error, 'message')) ?? (typeof error === 'string' ? error : undefined);
  const words = own ?? textOf(field(nested, 'message')) ?? textOf(nested) ?? textOf(field(error, 'responseBody'));
  const clean = (words ?? 'it did not say why').replaceAll(/\s+/g, ' ').trim();
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}...` : clean;
}

/** Reads own properties, and the getters of error classes. */
function field(value: unknown, key: string): unknown {
  if (value instanceof Error) return (value as unknown as Record<string, unknown>)[key];
  return ownValue(value, key);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : undefined;
}
