import type { CompositionStep } from '../pack.js';
import { namesOfPredicate } from './predicates.js';
import { namesIn } from './references.js';

export interface FlatStep {
  readonly step: CompositionStep;
  readonly parallel: CompositionStep | undefined;
}

/** Returns all steps in the order of the file, those inside a parallel step directly before it. */
export function flattened(steps: readonly CompositionStep[]): readonly FlatStep[] {
  return steps.flatMap((step) => [
    ...(step.branches ?? []).map((branch) => ({ step: branch, parallel: step })),
    { step, parallel: undefined },
  ]);
}

export type Waits = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Returns the dependencies of each step: `depends_on`, the steps its references name, and the branches that name it. A step inside a
 * parallel step waits for that step's dependencies, and the parallel step waits for all steps inside.
 */
export function waitsOf(steps: readonly CompositionStep[]): Waits {
  const flat = flattened(steps);
  const ids = new Set(flat.map(({ step }) => step.id));
  const own = ({ id, depends_on = [], input, args, predicate }: CompositionStep): readonly string[] => [
    ...depends_on,
    ...namesIn(input),
    ...namesIn(args),
    ...(predicate === undefined ? [] : namesOfPredicate(predicate)),
    ...branchesTo(id, steps),
  ];
  return new Map(
    flat.map(({ step, parallel }) => {
      const around = parallel === undefined ? [] : own(parallel);
      const inside = (step.branches ?? []).map(({ id }) => id);
      return [step.id, new Set([...own(step), ...around, ...inside].filter((id) => ids.has(id)))];
    }),
  );
}

export function branchesTo(id: string, steps: readonly CompositionStep[]): readonly string[] {
  return steps.filter((step) => step.then === id || step.else === id).map((step) => step.id);
}

/** Returns the steps in an order in which each comes after its dependencies, else as in the file. Steps in a cycle are left out. */
export function orderOf(waits: Waits): readonly string[] {
  const order: string[] = [];
  const done = new Set<string>();
  const left = new Map(waits);
  for (let isFewer = true; isFewer;) {
    isFewer = false;
    for (const [id, on] of left) {
      if (![...on].every((one) => done.has(one))) continue;
      done.add(id);
      order.push(id);
      left.delete(id);
      isFewer = true;
    }
  }
  return order;
}

/**
 * Returns pairs of steps of which the second waits for the first, so that these steps run in the order of the file. Those inside one
 * parallel step run at the same time, and the next one waits for that whole step, unless something inside of it waits for the next one.
 */
export function keptInOrder(steps: readonly FlatStep[], waits: Waits): readonly (readonly [string, string])[] {
  const placed = new Map(steps.map((one) => [one.step.id, one]));
  const done = new Set<string>();
  let before: readonly string[] = [];
  let group: { readonly whole: string; readonly steps: string[] } | undefined;
  return orderOf(waits).flatMap((id) => {
    const one = placed.get(id);
    const whole = one?.parallel?.id ?? id;
    if (one !== undefined && whole !== group?.whole) {
      if (group !== undefined) before = done.has(group.whole) ? [group.whole] : group.steps;
      group = { whole, steps: [] };
    }
    done.add(id);
    if (one === undefined) return [];
    group?.steps.push(id);
    return before.filter((earlier) => waits.get(id)?.has(earlier) !== true).map((earlier) => [earlier, id] as const);
  });
}
