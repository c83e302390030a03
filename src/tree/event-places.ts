import type { Plan, PlanNode } from '../plan/plan.js';

/** A node that has a role in a tree, or stands in a sequence. */
export interface TreePlace {
  readonly node: PlanNode;
  /** Of the goal, the convergence or the agent. */
  readonly name: string;
  /** Of the goal that it is, or that it is inside of. */
  readonly goal: string;
  /** Of the goal that it is one of the agents of. */
  readonly parent: string | undefined;
  /** The channel of its text. */
  readonly channel: string | undefined;
}

/** The nodes with a role and those in sequences, by their paths without visits, attempts and rounds. */
export function placesOf(plan: Plan): ReadonlyMap<string, TreePlace> {
  const places = new Map<string, TreePlace>();
  addPlaces(plan, '', undefined, places);
  return places;
}

// Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
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

/** Ids are escaped where names are not fit for them; in a sequence the channel of a text has the name. */
function nameOf(node: PlanNode, isTop: boolean): string {
  if (node.label !== undefined) return node.label;
  if ('plan' in node) return node.plan.name;
  return (isTop ? node.output : undefined) ?? node.id;
}

function channelOf(node: PlanNode): string | undefined {
  if (node.output !== undefined) return node.output;
  return node.kind === 'call' || node.kind === 'loop' ? Object.keys(node.outputs ?? {})[0] : undefined;
}
