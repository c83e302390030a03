import { madeOnce } from '../base/collections.js';
import type { AgentSpec } from './agent-spec.js';
import type { PlacedNode } from './nodes.js';
import { nodesOf, phaseAgent } from './nodes.js';
import type { Plan } from './plan.js';
import type { Security } from './security.js';
import { securityAt } from './security-at.js';

/** Who is asked, and where. */
interface Asked extends PlacedNode {
  readonly agent: AgentSpec;
}

const known = new WeakMap<Plan, readonly Asked[]>();

/**
 * All that a plan asks of models: its agents, who supervises them, and who looks at their calls, by what holds around the whole. What judges in place of a model
 * needs none. Of a plan that no one changes any more.
 */
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
