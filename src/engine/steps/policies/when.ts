import { asBoolean, evaluateConditions } from '../../../lang/condition.js';
import type { PlanNode } from '../../../plan/plan.js';
import type { Bound, Policy } from './policy.js';

type StateCondition = (state: Readonly<Record<string, unknown>>) => unknown;

/** A node that runs only if its conditions hold: `when`. They are evaluated once, not for each attempt. */
export function when({ id, when: conditions }: PlanNode, bound: Bound): Policy | undefined {
  if (conditions === undefined) return undefined;
  const key = `when:${id}`;
  const inCode = conditions.some((condition) => condition.op === 'code');
  const condition = inCode ? (bound.fn(key) as StateCondition) : undefined;
  return {
    enter(step, go) {
      const check = (): boolean => asBoolean(condition?.(step.view(condition)), key);
      const verdict = evaluateConditions(conditions, step.reader(), check, step.labelled, step.run);
      if (verdict.holds) go();
      else step.skip(verdict.reason);
    },
  };
}
