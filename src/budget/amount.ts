import type { ErrorData } from '../base/errors.js';
import { wasAsked } from '../base/errors.js';
import type { Cost, Usage } from '../events/event.js';
import { addUsd } from '../events/cost.js';
import { spentOf } from '../events/spending.js';

/** What was spent, or is reserved. Dollars are multiples of 1e-9. */
export interface Amount {
  readonly usd: number;
  /** Tokens that go in and come out. */
  readonly tokens: number;
  /** Calls of models. */
  readonly calls: number;
  readonly toolCalls: number;
}

/** Nothing at all. */
export const NO_AMOUNT: Amount = { usd: 0, tokens: 0, calls: 0, toolCalls: 0 };

/** Sum of two amounts: it does not depend on the order in which sums are made. */
export function addAmounts(a: Amount, b: Amount): Amount {
  return {
    usd: addUsd(a.usd, b.usd),
    tokens: a.tokens + b.tokens,
    calls: a.calls + b.calls,
    toolCalls: a.toolCalls + b.toolCalls,
  };
}

/** What is left when an amount is taken away. */
export function subtractAmounts(a: Amount, b: Amount): Amount {
  return {
    usd: addUsd(a.usd, -b.usd),
    tokens: a.tokens - b.tokens,
    calls: a.calls - b.calls,
    toolCalls: a.toolCalls - b.toolCalls,
  };
}

/** One call of a model. */
export function callAmount(
  { inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>,
  usd: number,
): Amount {
  return { usd, tokens: inputTokens + outputTokens, calls: 1, toolCalls: 0 };
}

/** What a call of a model spent, as its answer or its error says. One of which nobody knows the price spends no dollars. */
export function amountOfCall({ usage, cost }: { readonly usage: Usage; readonly cost?: Cost | undefined }): Amount {
  return callAmount(usage, cost?.usd ?? 0);
}

/** What a call of a model has spent that failed. */
export function amountOfFailure(error: ErrorData): Amount {
  const spent = spentOf(error);
  if (spent !== undefined) return amountOfCall(spent);
  return wasAsked(error) ? { ...NO_AMOUNT, calls: 1 } : NO_AMOUNT;
}

/** One call of a tool. */
export const TOOL_CALL: Amount = { usd: 0, tokens: 0, calls: 0, toolCalls: 1 };
