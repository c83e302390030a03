import { isPlainObject } from '../../base/json.js';
import type { Budget } from './budget.js';

/**
 * A text that two JSON values share if, and only if, they are equal: `1` and `1.0` are, `1` and `"1"` are not, the order of properties does not count.
 *
 * @throws SchemaError when the budget does not last
 * @example
 * valueKey({ b: 1, a: 2 }, budget) === valueKey({ a: 2, b: 1 }, budget); // true
 */
export function valueKey(value: unknown, budget: Budget): string {
  budget.enter();
  const key = keyOf(value, budget);
  budget.leave();
  return key;
}

function keyOf(value: unknown, budget: Budget): string {
  if (typeof value === 'string') {
    budget.spend(3 + value.length / 16);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    budget.spend(6);
    return `[${value.map((item) => valueKey(item, budget)).join(',')}]`;
  }
  if (!isPlainObject(value)) {
    budget.spend(3);
    return String(value);
  }
  const names = Object.keys(value).toSorted();
  budget.spend(6 + names.length);
  return `{${names.map((name) => `${JSON.stringify(name)}:${valueKey(value[name], budget)}`).join(',')}}`;
}
