import { resolve } from 'node:path';
import { costText } from '../../events/cost-text.js';
import type { Plan } from '../../plan/plan.js';
import {
  ASSUMED,
  findPrice,
  openPrices,
  planCost,
  readModelName,
  type CaseCost,
  type PlanCost,
  type Foreseen,
} from '../../prices.js';

export interface PricingFlags {
  readonly prices?: string;
  /** Replaces the models of all agents. */
  readonly model?: string;
}

export async function costOfPlan(plan: Plan, { prices, model }: PricingFlags): Promise<PlanCost> {
  return planCost(plan, { priceOf: await pricesBy(prices), model });
}

/** What budgets are compared with before a run. `pretended`: missing prices are not reported. */
export async function foreseen({ prices, model }: PricingFlags, pretended = false): Promise<Foreseen> {
  return { priceOf: await pricesBy(prices), models: model === undefined ? undefined : [model], pretended };
}

async function pricesBy(file: string | undefined): Promise<Foreseen['priceOf']> {
  const own = file === undefined ? undefined : await openPrices(resolve(file), file);
  return (name) => findPrice(fullName(name), own)?.price;
}

/** The full name of a model in price tables, for any name an agent uses: `sonnet`, `gpt-5-mini`. */
export function fullName(text: string): string {
  try {
    const { provider, model } = readModelName(text);
    return `${provider}/${model}`;
  } catch {
    return text;
  }
}

/** Describes both cases, and the assumptions about a call. Empty for a plan that calls no model. */
export function planCostLines({ typical, worst }: PlanCost): readonly string[] {
  const { inputTokens, outputTokens } = ASSUMED.typical;
  if (worst.usd === 0 && worst.unpricedCalls === 0) return [];
  if (worst.usd === 0) return ['cost: unknown price: --model names the model, --prices FILE what models cost'];
  return [
    `cost: ${caseText(typical)} typically, ${caseText(worst)} at most`,
    `  if a call reads ${inputTokens} tokens more than its agent's texts and writes ${outputTokens}; at most, if it reads ${ASSUMED.worst.inputTokens} more and writes all that its limit allows`,
  ];
}

/** Calls of unknown price are never described as free. */
function caseText({ usd, unpricedCalls }: CaseCost): string {
  if (usd === 'unbounded') return 'unbounded';
  const calls = typeof unpricedCalls === 'number' ? unpricedCalls : Number.POSITIVE_INFINITY;
  if (usd === 0 && calls > 0) return 'unknown price';
  if (calls === Number.POSITIVE_INFINITY)
    return `${costText({ usd, unpricedCalls: 0, estimated: true })} and calls of unknown price`;
  return costText({ usd, unpricedCalls: calls, estimated: true });
}
