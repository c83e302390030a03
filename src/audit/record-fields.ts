import type { ErrorData } from '../base/errors.js';
import type { RunOutcome, StepEnding, StepOutcome } from '../events/census.js';
import type { Cost, Usage } from '../events/event.js';
import type { Spending } from '../events/spending.js';

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

/** How each fact of an ending is written down; one that is missing here does not compile. */
const ENDING: { readonly [K in keyof StepEnding]-?: (value: StepEnding[K]) => Fields } = {
  outcome: (outcome) => ({ status: statusOf(outcome), outcome }),
  reason: (reason) => ({ reason }),
  error: errorFields,
};

/** How each count is written down. */
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

/** How a step ended, and why. */
export function endingFields(ending: StepEnding): Fields {
  return fieldsBy(ENDING, ending);
}

/** Tokens and dollars of one call. */
export function callFields({ usage, cost }: { readonly usage: Usage; readonly cost?: Cost }): Fields {
  const { usd, estimated, pretended } = cost ?? {};
  return { ...SPENDING.usage(usage), cost_usd: usd, cost_estimated: estimated, cost_pretended: pretended };
}

/** Calls, tokens and dollars. */
export function spendingFields(spending: Spending): Fields {
  return fieldsBy(SPENDING, spending);
}

function fieldsBy<T extends object>(table: { readonly [K in keyof T]-?: (value: T[K]) => Fields }, facts: T): Fields {
  const keys = Object.keys(table) as (keyof T)[];
  return Object.assign({}, ...keys.map((key) => table[key](facts[key]))) as Fields;
}

/** How a step stands, in the words of the audit files and of the JSON result. */
export type StepStatus = 'running' | 'completed' | 'failed' | 'skipped' | 'cancelled' | 'paused' | 'not_run';

/** What ran out of time or budget has failed; the outcome says why. A degraded run is completed. */
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

/** The status of a step or a run with an outcome. */
export function statusOf(outcome: StepOutcome | RunOutcome): StepStatus {
  return STATUS[outcome];
}
