import { SkeinError } from '../base/errors.js';
import { cloneData, freezeData, isPlainObject } from '../base/json.js';
import type { Plan } from './plan.js';

/** Workflows within workflows, at most. */
export const DEEPEST_PLAN = 50;

/** A plan that contains itself is nested deeper than any. */
const DEEPEST_COPY = 500;

/** Plans that nobody can change any more. */
const own = new WeakSet<object>();

/**
 * A copy of a plan that nobody can change any more. What it contains of such copies is taken over, so that a workflow in a workflow in a workflow is
 * copied once, and however deep they are nested, `checkPlan` can say so.
 *
 * @throws SkeinError `SKEIN_DEFINITION` when plans that were written as data are nested too deeply, or contain themselves.
 */
export function ownPlan(plan: Plan): Plan {
  return copyOf(plan, 0);
}

/** The plan itself, which nobody can change any more: for whoever made all of it, or had its parts frozen. */
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
  // A plan that is a copy of another was read from the same files.
  const paths = places.get(plan);
  if (paths !== undefined) places.set(copy as Plan, paths);
  return copy as Plan;
}

function isPlan(value: unknown): value is Plan {
  return isPlainObject(value) && Array.isArray(value['nodes']) && value['nodes'].every(isPlainObject);
}

/** Beside the plans, not in them: no digest of a plan changes when a project is moved. */
const places = new WeakMap<Plan, readonly string[]>();

/**
 * Notes the files and folders that a plan was read from, as absolute paths: tools of a run of it leave them alone, also where the plan is a part of another.
 */
export function noteReadFrom(plan: Plan, paths: readonly string[]): void {
  places.set(plan, paths);
}

/** What a plan and the plans in it were read from. */
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
