import { SkeinError } from '../base/errors.js';
import { cloneData, freezeData, isPlainObject } from '../base/json.js';
import type { Plan } from './plan.js';

/** Maximum nesting depth of workflows. */
export const DEEPEST_PLAN = 50;

/** A plan that contains itself exceeds any depth. */
const DEEPEST_COPY = 500;

/** Frozen plans. */
const own = new WeakSet<object>();

/**
 * Returns a frozen copy of a plan. Frozen copies inside it are reused, so deeply nested workflows are copied once, and `checkPlan` can
 * report a nesting that is too deep.
 *
 * @throws SkeinError `SKEIN_DEFINITION` if plans written as data are nested too deeply, or contain themselves.
 */
export function ownPlan(plan: Plan): Plan {
  return copyOf(plan, 0);
}

/** Freezes a plan in place, for callers that made all of it or froze its parts. */
export function sealPlan(plan: Plan): Plan {
  own.add(freezeData(plan));
  return plan;
}

function copyOf(plan: Plan, depth: number): Plan {
  if (own.has(plan)) return plan;
  if (depth > DEEPEST_COPY) {
    throw new SkeinError('SKEIN_DEFINITION', `workflows are nested deeper than ${DEEPEST_PLAN} levels`, {
      hint: 'use a loop, or start another run',
    });
  }
  const inner = plan.nodes.map((node) =>
    'plan' in node && isPlan(node.plan) ? copyOf(node.plan, depth + 1) : undefined,
  );
  const nodes = plan.nodes.map((node, at) => (inner[at] === undefined ? node : { ...node, plan: null }));
  const copy = cloneData({ ...plan, nodes });
  copy.nodes.forEach((node, at) => {
    const sub = inner[at];
    if (sub !== undefined) Object.assign(node, { plan: sub });
  });
  sealPlan(copy as Plan);
  // A copy has the same source files as its original.
  const paths = places.get(plan);
  if (paths !== undefined) places.set(copy, paths);
  return copy as Plan;
}

function isPlan(value: unknown): value is Plan {
  return isPlainObject(value) && Array.isArray(value['nodes']) && value['nodes'].every(isPlainObject);
}

/** Kept apart from the plans: moving a project changes no digest of a plan. */
const places = new WeakMap<object, readonly string[]>();

/** Records the absolute paths that a plan, prices or limits were read from: tools in runs of it don't touch them. */
export function noteReadFrom(made: object, paths: readonly string[]): void {
  places.set(made, paths);
}

/** Returns the paths from which something else than a plan was read. */
export function filesOf(made: object | undefined): readonly string[] {
  return made === undefined ? [] : (places.get(made) ?? []);
}

export function readFrom(plan: Plan): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<Plan>();
  const open = [plan];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const path of places.get(next) ?? []) found.add(path);
    for (const node of next.nodes) if ('plan' in node) open.push(node.plan);
  }
  return [...found];
}
