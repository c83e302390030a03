import type { ErrorData } from './errors.js';

/** Codes of failed connections, from Node and its HTTP client. */
const NETWORK_CODES =
  /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|EHOST|ENET|UND_ERR_|ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** The messages of `fetch` for such a failure, in a TypeError. */
const NETWORK_WORDS = /^(terminated|fetch failed)$/i;

/** Skein's own codes of failures that may not recur: timeouts, and answers of a model, a tool or its server. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  'SKEIN_TIMEOUT',
  'SKEIN_MODEL_EMPTY',
  'SKEIN_OUTPUT_INVALID',
  'SKEIN_TOOL_FAILED',
  'SKEIN_EXIT',
  'SKEIN_MCP',
]);

/** Errors in a program, and deliberate aborts. */
const LASTING_NAMES: readonly string[] = [
  'TypeError',
  'ReferenceError',
  'SyntaxError',
  'RangeError',
  'EvalError',
  'URIError',
  'AssertionError',
  'AbortError',
];

/** Whether a code means that there was no connection, or that it was cut. */
export function isNetworkCode(code: string): boolean {
  return NETWORK_CODES.test(code);
}

/** Whether a message of `fetch` means the same. */
export function isNetworkMessage(message: string): boolean {
  return NETWORK_WORDS.test(message);
}

/** Whether the same request may succeed after an HTTP status: 408, 425, 429, and errors of the server. */
export function isPassingStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** The HTTP status of a failure: from a foreign error, or from a provider's refusal. */
export function statusOf({ status, details }: ErrorData): number | undefined {
  if (status !== undefined) return status;
  const told: unknown =
    typeof details === 'object' && details !== null && 'status' in details ? details.status : undefined;
  return typeof told === 'number' ? told : undefined;
}

/**
 * Whether another attempt may help: the one rule of all retries that name no errors. An error's own `retryable` decides first. Errors of
 * nodes may pass unless they are programming errors, aborts, or carry a permanent HTTP status; of Skein's own errors, those may pass that
 * depend on the network, a model or time.
 */
export function mayGoAway(error: ErrorData): boolean {
  const { code, retryable, thrownCode, name, classes = [], message } = error;
  if (retryable !== undefined) return retryable;
  if (code !== 'SKEIN_STEP_FAILED') return PASSING_CODES.has(code);
  const status = statusOf(error);
  if (thrownCode === 'insufficient_quota') return false;
  if (status !== undefined && status >= 400) return isPassingStatus(status);
  if ((thrownCode !== undefined && isNetworkCode(thrownCode)) || isNetworkMessage(message)) return true;
  return !LASTING_NAMES.some((lasting) => name === lasting || classes.includes(lasting));
}
