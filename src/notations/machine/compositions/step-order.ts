import type { CompositionStep } from '../pack.js';
import { namesOfPredicate } from './predicates.js';
import { namesIn } from './references.js';

/** A step of a composition, and the parallel step that it stands in. */
export interface FlatStep {
  readonly step: CompositionStep;
  readonly parallel: CompositionStep | undefined;
}

/** All steps, those of parallel steps right before them, in the order of the file. */
export function flattened(steps: readonly CompositionStep[]): readonly FlatStep[] {
  return steps.flatMap((step) => [
    ...(step.branches ?? []).map((branch) => ({ step: branch, parallel: step })),
    { step, parallel: undefined },
  ]);
}

/** By id of a step: the steps that it waits for. */
export type Waits = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * What each step waits for: `depends_on`, the steps that its references name, and the branches that name it. A step in a parallel one waits for what that one
 * waits for, and that one for all in it.
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

/** The branch steps that name a step. */
export function branchesTo(id: string, steps: readonly CompositionStep[]): readonly string[] {
  return steps.filter((step) => step.then === id || step.else === id).map((step) => step.id);
}

/**
 * The steps in an order in which each comes after those it waits for, else as in the file. Steps that wait for each other are left out.
 *
 * @example
 * orderOf(new Map([['b', new Set(['a'])], ['a', new Set()]])); // ['a', 'b']
 */
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
