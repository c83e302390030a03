import type { StateOf } from '../../../plan/builder-input.js';
import type { CompositionStep } from '../pack.js';
import { outputOf } from './step-functions.js';
import { branchesTo, flattened, type FlatStep } from './step-order.js';

type Condition = (state: StateOf) => boolean;

/**
 * Returns the condition under which a step runs, of those that its definition leaves open: statement 46 skips a step if all it depends on were
 * skipped, if a branch chose another target, or if no branch naming it ran. Undefined if it always runs. What a condition reads
 * influences the step, so it reads nothing that can't decide.
 */
export function conditionOf({ step, parallel }: FlatStep, steps: readonly CompositionStep[]): Condition | undefined {
  const rules = [step, ...(parallel === undefined ? [] : [parallel])].flatMap((one) => rulesOf(one, steps));
  return rules.length === 0 ? undefined : (state) => rules.every((rule) => rule(state));
}

function rulesOf({ id, depends_on = [] }: CompositionStep, steps: readonly CompositionStep[]): readonly Condition[] {
  const branches = branchesTo(id, steps);
  const isChosen: Condition = (state) => {
    const open = branches.filter((one) => hasRun(one, state));
    return open.length > 0 && open.every((one) => state[outputOf(one)] === id);
  };
  const hasAny: Condition = (state) => depends_on.some((one) => hasRun(one, state));
  const waitsForMissing = depends_on.length > 0 && depends_on.every((one) => mayBeMissing(one, steps));
  return [...(branches.length === 0 ? [] : [isChosen]), ...(waitsForMissing ? [hasAny] : [])];
}

function hasRun(id: string, state: StateOf): boolean {
  return state[outputOf(id)] !== undefined;
}

/** Whether a run can come past a step without an output of it: it was skipped, or failed inside a parallel step. */
function mayBeMissing(id: string, steps: readonly CompositionStep[]): boolean {
  const found = flattened(steps).find(({ step }) => step.id === id);
  if (found === undefined || found.parallel !== undefined || branchesTo(id, steps).length > 0) return true;
  const { depends_on = [] } = found.step;
  return depends_on.length > 0 && depends_on.every((one) => mayBeMissing(one, steps));
}
