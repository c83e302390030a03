import type { Plan } from './plan.js';

/** Beside the plans, not in them: no digest of a plan changes when a project is moved. */
const places = new WeakMap<Plan, readonly string[]>();

/**
 * Notes the files and folders that a plan was read from, as absolute paths: tools of a run of it leave them alone, also where the plan is a part of another.
 *
 * @example
 * noteReadFrom(plan, ['/project/review.yaml', '/project/.github/agents']);
 */
export function noteReadFrom(plan: Plan, paths: readonly string[]): void {
  places.set(plan, paths);
}

/** A plan that is a copy of another was read from the same files. */
export function copyReadFrom(copy: Plan, plan: Plan): void {
  const paths = places.get(plan);
  if (paths !== undefined) places.set(copy, paths);
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
