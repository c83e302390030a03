import type { ErrorData } from './errors.js';

/** Codes of Node and of its HTTP client for connections that fail. */
const NETWORK_CODES =
  /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|EHOST|ENET|UND_ERR_|ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** How `fetch` calls such a failure, in a TypeError. */
const NETWORK_WORDS = /^(terminated|fetch failed)$/i;

/** Failures of Skein's own that the next attempt may not have: too slow, or an answer of a model, a tool or its server. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  'SKEIN_TIMEOUT',
  'SKEIN_MODEL_EMPTY',
  'SKEIN_OUTPUT_INVALID',
  'SKEIN_TOOL_FAILED',
  'SKEIN_EXIT',
  'SKEIN_MCP',
]);

/** Mistakes in a program, and what somebody stopped on purpose. */
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

/** A code that means that there was no connection, or that it was cut. */
export function isNetworkCode(code: string): boolean {
  return NETWORK_CODES.test(code);
}

/** A message with which `fetch` says so. */
export function isNetworkMessage(message: string): boolean {
  return NETWORK_WORDS.test(message);
}

/** An HTTP status after which the same request may succeed: 408, 425, 429, and what the server did wrong. */
export function isPassingStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** The HTTP status of a failure: that of a foreign error, or the one with which a provider refused. */
export function statusOf({ status, details }: ErrorData): number | undefined {
  if (status !== undefined) return status;
  const told: unknown =
    typeof details === 'object' && details !== null && 'status' in details ? details.status : undefined;
  return typeof told === 'number' ? told : undefined;
}

/**
 * Whether another attempt may help: the one rule of all retries that name no errors. An error that says so itself is believed. Errors of nodes
 * may go away unless they are mistakes in a program, were aborted, or carry an HTTP status that stays; of Skein's own those do that depend
 * on the network, a model or time.
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
