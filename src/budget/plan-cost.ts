import type { Usage } from '../events/event.js';
import type { AgentNode, Plan } from '../plan/plan.js';
import { estimateWorth, type Bound, type Worth } from '../plan/envelope.js';
import { DEFAULT_OUTPUT_TOKENS } from '../plan/limits.js';
import { costOf, priceWith, worstCost, type Price } from './prices.js';

/** The typical and the maximum cost of a run of a plan, as far as prices are known. */
export interface PlanCost {
  readonly typical: CaseCost;
  readonly worst: CaseCost;
}

/** One of the two cases. */
export interface CaseCost {
  readonly usd: Bound;
  /** Calls of unknown price. They are not included in `usd`. */
  readonly unpricedCalls: Bound;
}

/** Assumed tokens of a call if only its agent is known. The output of a call never exceeds its limit. */
export const ASSUMED = {
  typical: { inputTokens: 4_000, outputTokens: 1_000 },
  worst: { inputTokens: 100_000, outputTokens: DEFAULT_OUTPUT_TOKENS },
} as const satisfies Record<keyof PlanCost, Usage>;

/** Text has about 4 characters per token. */
const CHARACTERS_PER_TOKEN = 4;

export interface Pricing {
  readonly priceOf: (model: string) => Price | undefined;
  /** The model that all agents call, in place of their own. */
  readonly model?: string | undefined;
}

/** Prices the calls of `estimateCalls`. Tokens come from the agent's texts and output limit; {@link ASSUMED} stands for the rest. */
export function planCost(plan: Plan, { priceOf, model }: Pricing): PlanCost {
  const pricesOf = (models: readonly string[]): readonly (Price | undefined)[] =>
    model === undefined ? models.map(priceOf) : [priceOf(model)];
  const dollars: Worth = (models, agent) => {
    const [first, ...others] = pricesOf(models);
    const cost = (which: keyof PlanCost, price: Price | undefined): number => {
      if (price === undefined) return 0;
      const usage = tokensOf(which, agent, price.limit);
      return (which === 'typical' ? costOf(usage, price) : worstCost(priceWith(price, agent?.agent.cache), usage)).usd;
    };
    const worst = [first, ...others].map((price) => cost('worst', price));
    return { typical: cost('typical', first), worst: Math.max(...worst) };
  };
  const unpriced: Worth = (models) => {
    const [first, ...others] = pricesOf(models);
    return { typical: first === undefined ? 1 : 0, worst: [first, ...others].includes(undefined) ? 1 : 0 };
  };
  const [usd, unpricedCalls] = [estimateWorth(plan, dollars), estimateWorth(plan, unpriced)];
  return {
    typical: { usd: usd.typical, unpricedCalls: unpricedCalls.typical },
    worst: { usd: usd.worst, unpricedCalls: unpricedCalls.worst },
  };
}

function tokensOf(which: keyof PlanCost, node: AgentNode | undefined, limit = Number.POSITIVE_INFINITY): Usage {
  const { inputTokens, outputTokens } = ASSUMED[which];
  const { maxOutputTokens = Math.min(DEFAULT_OUTPUT_TOKENS, limit) } = node?.agent.settings ?? {};
  const texts = node === undefined ? [] : [...node.agent.instructions, ...node.prompt];
  const known = texts.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0), 0);
  return {
    inputTokens: inputTokens + Math.ceil(known / CHARACTERS_PER_TOKEN),
    outputTokens: which === 'worst' ? maxOutputTokens : Math.min(outputTokens, maxOutputTokens),
  };
}
