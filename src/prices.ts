/** The prices that the command line knows. Only commands that need prices load the table. */
export { readModelName } from './agent/models/model-names.js';
export { openLimits } from './agent/models/read-limits.js';
export { openPrices } from './agent/models/read-prices.js';
export { budgetProblems } from './budget/foresee.js';
export type { Foreseen } from './budget/foresee.js';
export { ASSUMED, planCost } from './budget/plan-cost.js';
export type { CaseCost, PlanCost } from './budget/plan-cost.js';
export { BUILT_IN_PRICES, findPrice } from './budget/prices.js';
export type { FoundPrice, Price, PriceTable } from './budget/prices.js';
export type { ProvidersLimits } from './budget/provider-limits.js';
