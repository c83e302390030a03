import type { Plan, PlanNode } from '../../plan/plan.js';
import { printable } from './printable.js';
import { sameTexts } from '../../base/collections.js';

/**
 * Describes the decision of a node that only decides. Undefined if its routes leave no choice.
 *
 * @example
 * decisionText(plan, 'qa_check', ['cond_3_false_1']); // 'false -> goto trans'
 */
export function decisionText(plan: Plan, from: string, to: readonly string[]): string | undefined {
  const routes = plan.routes.filter((route) => route.from === from);
  const [route] = routes;
  if (route?.cases === undefined || routes.length > 1) return undefined;
  const [first] = route.cases;
  const same = first === undefined || sameTexts(first.to, route.otherwise ?? []);
  if (same) return undefined;
  const verdict = route.cases.length > 1 ? '' : `${sameTexts(first.to, to) ? 'true' : 'false'} `;
  return `${verdict}-> ${placesText(plan, to)}`;
}

/**
 * Describes where the run continues. A jump is described by its target.
 *
 * @example
 * placesText(plan, ['publish', 'archive']); // 'publish, archive'
 */
export function placesText(plan: Plan, ids: readonly string[]): string {
  const places = ids.map((id) => placeText(plan, id)).filter((text) => text !== undefined);
  return places.length === 0 ? 'the end' : places.join(', ');
}

function placeText(plan: Plan, id: string): string | undefined {
  const node = plan.nodes.find((one) => one.id === id);
  if (node === undefined) return undefined;
  const target = jumpTarget(plan, node);
  return target === undefined ? printable(id) : `goto ${printable(target)}`;
}

/**
 * Returns the target of a jump. Undefined if the node is not a jump.
 *
 * @example
 * jumpTarget(plan, node); // 'trans'
 */
export function jumpTarget(plan: Plan, node: PlanNode): string | undefined {
  if (node.kind !== 'pass' || plan.routes.some((route) => route.from === node.id)) return undefined;
  const targets = plan.edges.filter((edge) => edge.from === node.id);
  return targets.length === 1 ? targets[0]?.to : undefined;
}
