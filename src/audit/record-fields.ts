import type { ErrorData } from '../base/errors.js';
import type { RunOutcome, StepEnding, StepOutcome } from '../events/census.js';
import type { Cost, Usage } from '../events/event.js';
import type { Spending } from '../events/spending.js';

/** Fields of a metadata record. JSON leaves out undefined values. */
export type Fields = Readonly<Record<string, unknown>>;

/** Start and end in ISO 8601 and UTC, and the duration in milliseconds and in seconds. */
export function timeFields(startedAt: number, endedAt: number | undefined): Fields {
  const started_at = new Date(startedAt).toISOString();
  if (endedAt === undefined) return { started_at };
  const duration_ms = Math.max(0, endedAt - startedAt);
  const completed_at = new Date(endedAt).toISOString();
  return { started_at, completed_at, duration_ms, duration_seconds: duration_ms / 1_000 };
}

export function errorFields(error: ErrorData | undefined): Fields {
  return { error: error?.message, error_code: error?.code, error_hint: error?.hint };
}

/** The fields for each part of an ending. A missing part does not compile. */
const ENDING: { readonly [K in keyof StepEnding]-?: (value: StepEnding[K]) => Fields } = {
  outcome: (outcome) => ({ status: statusOf(outcome), outcome }),
  reason: (reason) => ({ reason }),
  error: errorFields,
};

const SPENDING: { readonly [K in keyof Spending]-?: (value: Spending[K]) => Fields } = {
  modelCalls: (count) => ({ model_calls: count }),
  failedModelCalls: (count) => ({ failed_model_calls: count }),
  toolCalls: (count) => ({ tool_calls: count }),
  usage: ({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens }) => ({
    usage: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cached_tokens: cachedTokens,
      cache_write_tokens: cacheWriteTokens,
      reasoning_tokens: reasoningTokens,
    },
  }),
  usd: (usd) => ({ cost_usd: usd }),
  unpricedCalls: (count) => ({ unpriced_calls: count }),
  estimated: (estimated) => ({ cost_estimated: estimated }),
  pretendedUsd: (usd) => ({ cost_pretended_usd: usd }),
};

export function endingFields(ending: StepEnding): Fields {
  return fieldsBy(ENDING, ending);
}

export function callFields({ usage, cost }: { readonly usage: Usage; readonly cost?: Cost }): Fields {
  const { usd, estimated, pretended } = cost ?? {};
  return { ...SPENDING.usage(usage), cost_usd: usd, cost_estimated: estimated, cost_pretended: pretended };
}

export function spendingFields(spending: Spending): Fields {
  return fieldsBy(SPENDING, spending);
}

function fieldsBy<T extends object>(table: { readonly [K in keyof T]-?: (value: T[K]) => Fields }, facts: T): Fields {
  const keys = Object.keys(table) as (keyof T)[];
  return Object.assign({}, ...keys.map((key) => table[key](facts[key]))) as Fields;
}

/** The status of a step in the words of the audit files and the JSON result. */
export type StepStatus = 'running' | 'completed' | 'failed' | 'skipped' | 'cancelled' | 'paused' | 'not_run';

/** A step out of time or budget has failed; its outcome tells why. A degraded run is completed. */
const STATUS: Readonly<Record<StepOutcome | RunOutcome, StepStatus>> = {
  succeeded: 'completed',
  degraded: 'completed',
  failed: 'failed',
  timed_out: 'failed',
  out_of_budget: 'failed',
  skipped: 'skipped',
  cancelled: 'cancelled',
  paused: 'paused',
};

export function statusOf(outcome: StepOutcome | RunOutcome): StepStatus {
  return STATUS[outcome];
}
