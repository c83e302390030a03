import type { Plan, PlanNode } from '../plan/plan.js';

/** A node that has a role in a tree, or is in a sequence. */
export interface TreePlace {
  readonly node: PlanNode;
  /** The name of the goal, the convergence or the agent. */
  readonly name: string;
  /** The name of the goal that the node is or belongs to. */
  readonly goal: string;
  /** The name of the goal that has this agent. */
  readonly parent: string | undefined;
  /** The channel that holds the node's text. */
  readonly channel: string | undefined;
}

/** Returns the nodes with a role and those in sequences, by their paths without visits, attempts and rounds. */
export function placesOf(plan: Plan): ReadonlyMap<string, TreePlace> {
  const places = new Map<string, TreePlace>();
  addPlaces(plan, '', undefined, places);
  return places;
}

// Workflows are nested at most 50 deep (see checkPlan), so recursion is safe here.
function addPlaces(plan: Plan, prefix: string, around: string | undefined, places: Map<string, TreePlace>): void {
  for (const node of plan.nodes) {
    const path = prefix + node.id;
    const { role } = node;
    const name = nameOf(node, prefix === '');
    const isGoal = role === 'goal' || role === 'convergence';
    const goal = isGoal ? name : (around ?? name);
    if (role !== undefined || prefix === '') {
      const parent = role === 'synthesis' ? undefined : around;
      places.set(path, { node, name, goal, parent, channel: channelOf(node) });
    }
    if ('plan' in node) addPlaces(node.plan, `${path}/`, isGoal ? name : around, places);
  }
}

/** Returns a node's written name. An id is escaped if unfit for it; in a sequence, the text's channel has the name. */
function nameOf(node: PlanNode, isTop: boolean): string {
  if (node.label !== undefined) return node.label;
  if ('plan' in node) return node.plan.name;
  return (isTop ? node.output : undefined) ?? node.id;
}

function channelOf(node: PlanNode): string | undefined {
  if (node.output !== undefined) return node.output;
  return node.kind === 'call' || node.kind === 'loop' ? Object.keys(node.outputs ?? {})[0] : undefined;
}
