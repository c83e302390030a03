import { present } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import type { Template } from '../lang/values.js';
import { amountText, readBudget } from '../plan/budget-text.js';
import type { Budget } from '../plan/budget.js';
import { DEFAULT_OUTPUT_TOKENS } from '../plan/limits.js';
import { askedOf } from '../plan/security-at.js';
import { nodeFinder, type PlacedNode } from '../plan/nodes.js';
import type { AgentSpec } from '../plan/agent-spec.js';
import type { Plan } from '../plan/plan.js';
import { LOCAL_MODELS } from '../plan/providers.js';
import type { Limit } from './account.js';
import { estimateCall, type CallEstimate } from './estimate.js';
import { holdsAt, limitsOf, needsPrices, noPrice, sharedLimitsOf } from './limits.js';
import { priceWith, worstCost, type Price } from './prices.js';

/** What is known about a run before it starts. */
export interface Foreseen {
  /** The requested budget, in place of limits of the plan: `0.50, 20-calls`. */
  readonly budget?: string | undefined;
  /** Returns the price of a model by the name an agent uses. Undefined if unknown. */
  readonly priceOf: (model: string) => Price | undefined;
  /** The models of all agents, in place of their own. */
  readonly models?: readonly string[] | undefined;
  /** True if nothing is billed, because a mock or a script answers. */
  readonly pretended?: boolean;
}

/** Returns warnings before a run: `no-price` for a model under a budget in dollars, `small-budget` if no first call fits. */
export function budgetProblems(plan: Plan, seen: Foreseen): readonly Problem[] {
  const budget = budgetAsked(plan.budget, seen.budget);
  const limits = limitsOf(plan, budget);
  if (limits.length === 0) return [];
  const all = askedOf(plan);
  const below = ({ path: at }: Limit): readonly Asked[] => all.filter(({ path }) => holdsAt(at, path));
  const unknown = seen.pretended === true ? [] : limits.flatMap((limit) => unpriced(limit, below(limit), seen));
  // Mocked calls are not billed and count for no day and no thread.
  const small = seen.pretended === true ? limits : [...limits, ...sharedLimitsOf(plan, budget)];
  return [...unknown, ...small.flatMap((limit) => tooSmall(plan, limit, below(limit), seen))];
}

/** An invalid budget is ignored here and refused when the run starts. */
function budgetAsked(budget: Budget | undefined, text = ''): Budget | undefined {
  const read = readBudget(text);
  return 'wrong' in read ? budget : { ...budget, ...read.set };
}

const UTF8 = new TextEncoder();

type Asked = PlacedNode & { readonly agent: AgentSpec };

function unpriced({ name, budget }: Limit, below: readonly Asked[], seen: Foreseen): readonly Problem[] {
  if (!needsPrices(budget)) return [];
  const found = new Map<string, Problem>();
  for (const { node, agent } of below) {
    for (const model of modelsOf(agent, seen)) {
      if (found.has(model) || isFree(model) || seen.priceOf(model) !== undefined) continue;
      found.set(model, { ...noPrice(model, name), ...present({ at: node.at }), severity: 'warning' });
    }
  }
  return [...found.values()];
}

/** Compares the budget with the cheapest first call below it, so that a warning is certain. */
function tooSmall(plan: Plan, limit: Limit, below: readonly Asked[], seen: Foreseen): readonly Problem[] {
  const { name, path, budget } = limit;
  const calls = below.map((asked) => firstCall(asked, budget, seen));
  const least = {
    usd: Math.min(...calls.map(({ usd }) => usd)),
    tokens: Math.min(...calls.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens)),
  };
  const at = nodeFinder(plan)(path)?.at;
  return (['usd', 'tokens'] as const).flatMap((measure): readonly Problem[] => {
    const most = budget[measure];
    if (most === undefined || calls.length === 0 || least[measure] <= most) return [];
    const [has, takes] = [amountText(measure, most), amountText(measure, least[measure])];
    const message = `the ${name} may spend ${has}, and its first call reserves ${takes}: nothing of it would run`;
    const hint = 'raise the budget, or lower how long an answer may be';
    return [{ ...present({ at }), code: 'small-budget', severity: 'warning', message, hint }];
  });
}

function firstCall({ node, agent }: Asked, budget: Budget, seen: Foreseen): CallEstimate & { readonly usd: number } {
  const bytes = bytesIn(agent.instructions) + (node.kind === 'agent' ? bytesIn(node.prompt) : 0);
  const [model = ''] = modelsOf(agent, seen);
  const price = isFree(model) ? undefined : seen.priceOf(model);
  const { maxOutputTokens = Math.min(DEFAULT_OUTPUT_TOKENS, price?.limit ?? Infinity) } = agent.settings ?? {};
  const estimate = estimateCall({ bytes, toolBytes: 0, newBytes: bytes, maxOutputTokens, strict: budget.strict });
  return { ...estimate, usd: price === undefined ? 0 : worstCost(priceWith(price, agent.cache), estimate).usd };
}

function modelsOf(agent: AgentSpec, { models = agent.models }: Foreseen): readonly string[] {
  return models.map((model) => model.trim());
}

/** Mock models bill nobody. */
function isFree(model: string): boolean {
  return LOCAL_MODELS.some((local) => model.startsWith(`${local}/`));
}

function bytesIn(template: Template): number {
  return template.reduce((sum, piece) => sum + (typeof piece === 'string' ? UTF8.encode(piece).length : 0), 0);
}
