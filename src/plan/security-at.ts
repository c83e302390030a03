import { nodePathOf } from '../base/address.js';
import { madeOnce } from '../base/collections.js';
import { nodesById, nodesOf } from './nodes.js';
import type { Plan, PlanNode } from './plan.js';
import { raised } from './security.js';
import type { Security } from './security.js';

const declared = new WeakMap<Plan, boolean>();

/** Whether a plan, or a node or a plan in it, says anything of it. */
function declares(plan: Plan): boolean {
  const all = (): readonly { readonly security?: Security }[] => [
    plan,
    ...[...nodesOf(plan)].flatMap(({ node, plan: inside }) => [node, inside]),
  ];
  return madeOnce(declared, plan, () => all().some(({ security }) => security !== undefined));
}

const NOTHING = (): undefined => undefined;

/** What holds for the node at each path of a plan, `around` being what holds for the whole run. Of a plan that no one changes any more. */
export function securityAt(plan: Plan, around?: Security): (path: string) => Security | undefined {
  if (around === undefined && !declares(plan)) return NOTHING;
  const known = new Map<string, Security | undefined>();
  return (path) => {
    const ids = nodePathOf(path);
    if (!known.has(ids)) known.set(ids, heldAt(plan, around, ids));
    return known.get(ids);
  };
}

function heldAt(plan: Plan, around: Security | undefined, ids: string): Security | undefined {
  let held = raised(around, plan.security);
  let inside: Plan | undefined = plan;
  for (const id of ids.split('/')) {
    const node: PlanNode | undefined = inside && nodesById(inside).get(id);
    held = raised(held, node?.security);
    inside = node !== undefined && 'plan' in node ? node.plan : undefined;
    held = raised(held, inside?.security);
  }
  return held;
}

/** A plan of which no call is looked at by models. */
export function withoutSecurity(plan: Plan): Plan {
  const { security: _, ...rest } = plan;
  const nodes = plan.nodes.map((node): PlanNode => {
    const { security: _own, ...bare } = node;
    return 'plan' in bare ? { ...bare, plan: withoutSecurity(bare.plan) } : bare;
  });
  return { ...rest, nodes };
}
