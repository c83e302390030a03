import type { ErrorCode } from '../../base/errors.js';
import { isPassingStatus } from '../../base/passing-errors.js';

/** The class of a failed answer of a provider. */
export interface StatusClass {
  readonly code: ErrorCode;
  readonly retryable: boolean;
}

/** Sets `retryable` only for errors that may pass; for any other, the `retry` of the step decides. */
export function passing({ retryable }: Pick<StatusClass, 'retryable'>): { readonly retryable?: true } {
  return retryable ? { retryable } : {};
}

const UNAVAILABLE =
  /model_not_found|no such model|unknown model|invalid model|model.{0,200}(not found|does not exist|not available|unavailable|not exist|is not supported|not a valid|deprecated)/is;

/** Characters of an answer to examine: the class of an error is at its beginning. */
const LOOKED_AT = 10_000;

/** True if the text is a provider's message that it does not have a model. */
export function saysModelUnavailable(text: string): boolean {
  return UNAVAILABLE.test(text.slice(0, LOOKED_AT));
}

/** Classifies a status by the text, too: some providers return 400 for an unknown model, and 429 for an account without credit. */
export function classifyStatus(status: number, text: string): StatusClass {
  if (status === 401 || status === 403) return { code: 'SKEIN_MODEL_REFUSED', retryable: false };
  if (status === 404) return { code: 'SKEIN_MODEL_UNAVAILABLE', retryable: false };
  if (status === 429 && /insufficient_quota|billing/i.test(text))
    return { code: 'SKEIN_MODEL_REFUSED', retryable: false };
  if (isPassingStatus(status))
    return { code: status < 500 ? 'SKEIN_MODEL_OVERLOADED' : 'SKEIN_MODEL_FAILED', retryable: true };
  if (saysModelUnavailable(text)) return { code: 'SKEIN_MODEL_UNAVAILABLE', retryable: false };
  return { code: 'SKEIN_MODEL_REFUSED', retryable: false };
}

/** Classifies an error inside a stream, which has no status, from its type, code and message. */
export function classifyWords(text: string): StatusClass {
  if (saysModelUnavailable(text)) return { code: 'SKEIN_MODEL_UNAVAILABLE', retryable: false };
  if (/insufficient_quota|billing/i.test(text)) return { code: 'SKEIN_MODEL_REFUSED', retryable: false };
  if (/overloaded|rate.?limit|too many requests/i.test(text))
    return { code: 'SKEIN_MODEL_OVERLOADED', retryable: true };
  if (/invalid_request|context_length|authentication|permission|invalid_prompt/i.test(text)) {
    return { code: 'SKEIN_MODEL_REFUSED', retryable: false };
  }
  return { code: 'SKEIN_MODEL_FAILED', retryable: true };
}

export function hintFor(code: ErrorCode, status: number | undefined, keyEnv: string | undefined): string | undefined {
  if (status !== undefined && status >= 300 && status < 400)
    return 'redirects are not followed: make the base URL the address that answers';
  if (status === 401 || status === 403) {
    return keyEnv === undefined ? 'check the key of this provider' : `check the key in ${keyEnv}`;
  }
  if (status === 429 && code === 'SKEIN_MODEL_REFUSED')
    return 'the account has no credit or quota left: add some with the provider, or choose another model with --model; waiting does not help';
  if (code === 'SKEIN_MODEL_UNAVAILABLE')
    return 'check the name of the model and the base URL, which for most servers ends with /v1; or name other models after it';
  if (code === 'SKEIN_MODEL_OVERLOADED') return 'lower the concurrency, or name another model after this one';
  return undefined;
}

/** Response headers by lower-case name. */
export type HeaderMap = Readonly<Record<string, string | undefined>>;

/** The wait that a server requests, in milliseconds: `retry-after-ms`, then `Retry-After`. Undefined if absent or unreadable. */
export function retryAfterMs(headers: HeaderMap, now: number): number | undefined {
  const exact = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Converts any header container to a map with lower-case names. */
export function headerMap(headers: unknown): HeaderMap {
  const result = Object.create(null) as Record<string, string>;
  if (typeof headers !== 'object' || headers === null) return result;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') result[name.toLowerCase()] = value;
  }
  return result;
}
