import { asModelCall } from '../base/address.js';
import { isPlainObject } from '../base/json.js';
import { wasAsked, type ErrorData } from '../base/errors.js';
import type { Cost, Usage } from '../events/event.js';
import { addUsd } from '../events/cost.js';
import { readCost, readCount, readUsage, spentOf } from '../events/spending.js';

/** An amount spent or reserved. Dollars are multiples of 1e-9. */
export interface Amount {
  readonly usd: number;
  /** Input and output tokens. */
  readonly tokens: number;
  /** Calls of models. */
  readonly calls: number;
  readonly toolCalls: number;
}

export const NO_AMOUNT: Amount = { usd: 0, tokens: 0, calls: 0, toolCalls: 0 };

/** Adds two amounts. The sum does not depend on the order of additions. */
export function addAmounts(a: Amount, b: Amount): Amount {
  return {
    usd: addUsd(a.usd, b.usd),
    tokens: a.tokens + b.tokens,
    calls: a.calls + b.calls,
    toolCalls: a.toolCalls + b.toolCalls,
  };
}

/** Subtracts the second amount from the first. */
export function subtractAmounts(a: Amount, b: Amount): Amount {
  return {
    usd: addUsd(a.usd, -b.usd),
    tokens: a.tokens - b.tokens,
    calls: a.calls - b.calls,
    toolCalls: a.toolCalls - b.toolCalls,
  };
}

export function callAmount(
  { inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>,
  usd: number,
): Amount {
  return { usd, tokens: inputTokens + outputTokens, calls: 1, toolCalls: 0 };
}

/** The amount that a call of a model spent, by its answer or error. A call of unknown price spends no dollars. */
export function amountOfCall({ usage, cost }: { readonly usage: Usage; readonly cost?: Cost | undefined }): Amount {
  return callAmount(usage, cost?.usd ?? 0);
}

/** The amount that a failed call of a model spent. */
export function amountOfFailure(error: ErrorData): Amount {
  const spent = spentOf(error);
  if (spent !== undefined) return amountOfCall(spent);
  return wasAsked(error) ? { ...NO_AMOUNT, calls: 1 } : NO_AMOUNT;
}

/** The amount that an effect of this name spent, by its outcome; undefined if it is no call of a model or a tool. */
export function amountOfEffect(name: string, outcome: () => EffectOutcome): Amount | undefined {
  if (TOOL.test(name)) return TOOL_CALL;
  if (asModelCall(name) === undefined) return undefined;
  const its = outcome();
  if (!its.ok) return amountOfFailure(its.error);
  if (!isPlainObject(its.value)) return NO_AMOUNT;
  const { usage, cost, dispatched } = its.value;
  const call = amountOfCall({ usage: readUsage(usage), cost: readCost(cost) });
  return addAmounts(call, { ...NO_AMOUNT, toolCalls: readCount(dispatched) });
}

type EffectOutcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: ErrorData };

const TOOL = /^tool#[\d.]+$/;

export const TOOL_CALL: Amount = { usd: 0, tokens: 0, calls: 0, toolCalls: 1 };
