import { isDeepStrictEqual } from 'node:util';
import type { RunOverview, StepOverview } from '../../index.js';

/** A step in two runs. Undefined in a run that did not take it. */
export interface StepPair {
  readonly path: string;
  readonly one: StepOverview | undefined;
  readonly other: StepOverview | undefined;
  /** True if both succeeded with different outputs. */
  readonly differs: boolean;
}

/** Pairs the steps of two runs, in the order of the first. Steps of the second run only are inserted where they began there. */
export function pairSteps(one: RunOverview, other: RunOverview): readonly StepPair[] {
  const [left, right] = [byPath(one.steps), byPath(other.steps)];
  const paths = [...left.keys()];
  let place = 0;
  for (const path of right.keys()) {
    if (left.has(path)) place = Math.max(place, paths.indexOf(path) + 1);
    else {
      paths.splice(place, 0, path);
      place += 1;
    }
  }
  return paths.map((path) => {
    const [a, b] = [left.get(path), right.get(path)];
    const both = a?.outcome === 'succeeded' && b?.outcome === 'succeeded';
    return { path, one: a, other: b, differs: both && !isDeepStrictEqual(a.output, b.output) };
  });
}

/** Formats a value as text that can be compared line by line. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(sorted(value), null, 2) ?? '');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, sorted(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function byPath(steps: readonly StepOverview[]): ReadonlyMap<string, StepOverview> {
  return new Map(steps.map((step) => [step.path, step]));
}
