import { nodePathOf } from '../base/address.js';
import { madeOnce } from '../base/collections.js';
import { nodesById, nodesOf, phaseAgent, type PlacedNode } from './nodes.js';
import type { Plan, PlanNode } from './plan.js';
import { raised, type Security } from './security.js';
import type { AgentSpec } from './agent-spec.js';

const declared = new WeakMap<Plan, boolean>();

function declares(plan: Plan): boolean {
  const all = (): readonly { readonly security?: Security }[] => [
    plan,
    ...[...nodesOf(plan)].flatMap(({ node, plan: inside }) => [node, inside]),
  ];
  return madeOnce(declared, plan, () => all().some(({ security }) => security !== undefined));
}

const NOTHING = (): undefined => undefined;

/** Returns the security at each path of a frozen plan; `around` is the security of the whole run. */
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

export function withoutSecurity(plan: Plan): Plan {
  const { security: _, ...rest } = plan;
  const nodes = plan.nodes.map((node): PlanNode => {
    const { security: _own, ...bare } = node;
    return 'plan' in bare ? { ...bare, plan: withoutSecurity(bare.plan) } : bare;
  });
  return { ...rest, nodes };
}

interface Asked extends PlacedNode {
  readonly agent: AgentSpec;
}

const known = new WeakMap<Plan, readonly Asked[]>();

/** Returns all agents that a frozen plan calls: its own, their supervisors, and the reviewers of their calls. */
export function askedOf(plan: Plan, around?: Security): readonly Asked[] {
  return around === undefined ? madeOnce(known, plan, () => [...askedIn(plan)]) : [...askedIn(plan, around)];
}

function* askedIn(plan: Plan, around?: Security): Generator<Asked> {
  const security = securityAt(plan, around);
  for (const place of nodesOf(plan)) {
    const { node } = place;
    if (node.kind === 'agent') yield { ...place, agent: node.agent };
    const { by, model, supervisor } = node.supervise ?? { by: 'human' };
    const asksOwn = by === 'model' && supervisor === undefined && node.kind !== 'agent';
    if (model !== undefined || asksOwn) yield { ...place, agent: phaseAgent(node, model) };
    const isJudged = node.kind === 'agent' || (node.kind === 'task' && node.tool !== undefined);
    const judge = isJudged ? security(place.path)?.model : undefined;
    if (judge !== undefined) yield { ...place, agent: phaseAgent(node, judge) };
  }
}
