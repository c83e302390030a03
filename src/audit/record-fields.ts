import type { ErrorData } from '../base/errors.js';
import type { Usage } from '../events/event.js';

/** Fields of a record in a metadata file. Those whose value is undefined are left out by JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** When something began and ended, in ISO 8601 and UTC; how long it took, once in milliseconds and once in seconds. */
export function timeFields(startedAt: number, endedAt: number | undefined): Fields {
  const started_at = new Date(startedAt).toISOString();
  if (endedAt === undefined) return { started_at };
  const duration_ms = Math.max(0, endedAt - startedAt);
  const completed_at = new Date(endedAt).toISOString();
  return { started_at, completed_at, duration_ms, duration_seconds: duration_ms / 1_000 };
}

/** An error as its message, its code and its hint. */
export function errorFields(error: ErrorData | undefined): Fields {
  return { error: error?.message, error_code: error?.code, error_hint: error?.hint };
}

/** Tokens. */
export function usageFields(usage: Usage): Fields {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
  };
}

/** Sum of two counts of tokens; what neither of them counts stays uncounted. */
export function sumUsage(a: Usage, b: Usage): Usage {
  const cachedTokens = sum(a.cachedTokens, b.cachedTokens);
  const reasoningTokens = sum(a.reasoningTokens, b.reasoningTokens);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
