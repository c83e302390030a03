import { addTo } from '../base/collections.js';
import { nodesById } from './nodes.js';
import { END, type Plan, type PlanNode } from './plan.js';

/** Returns the nodes at which the flow of a file ends, in plan order; those before if it ends without having done anything. */
export function resultNodes(plan: Plan): readonly string[] {
  const nodes = new Map(plan.nodes.map((node) => [node.id, node]));
  const before = new Map<string, string[]>();
  const ends = new Set(nodes.keys());
  for (const { from, to } of plan.edges) {
    addTo(before, to, from);
    ends.delete(from);
  }
  for (const { from, cases = [], otherwise = [] } of plan.routes) {
    const targets = [...cases.flatMap((each) => each.to), ...otherwise];
    for (const to of targets) if (to !== END) addTo(before, to, from);
    if (targets.length > 0 && !targets.includes(END)) ends.delete(from);
  }
  // Where the flow continues once a jump back reaches its limit.
  for (const { id, onMaxVisits } of plan.nodes) {
    if (typeof onMaxVisits !== 'object' || !('to' in onMaxVisits)) continue;
    if (onMaxVisits.to === END) ends.add(id);
    else addTo(before, onMaxVisits.to, id);
  }
  if (plan.finally !== undefined) ends.delete(plan.finally);
  const found = new Set(ends);
  for (const id of found) if (!hasResult(nodes.get(id))) for (const from of before.get(id) ?? []) found.add(from);
  return [...nodes.values()].filter((node) => found.has(node.id) && hasResult(node)).map((node) => node.id);
}

/**
 * Returns the paths of the nodes that hold the results of nodes, by default of those that hold the results of a file. Of a block or a called
 * file that hands several outputs on, these are the nodes at which its own flow ends.
 */
export function resultPaths(plan: Plan, ids: readonly string[] = resultNodes(plan)): readonly string[] {
  return ids.flatMap((id) => {
    const node = nodesById(plan).get(id);
    if (node === undefined || node.output !== undefined || !('plan' in node)) return [id];
    const inside = resultPaths(node.plan).map((path) => `${id}/${path}`);
    const told = inside.filter((path) => innerNode(plan, path)?.channel !== undefined);
    return told.length === 0 ? [id] : told;
  });
}

export function writingNodes({ nodes }: Plan): readonly string[] {
  return nodes.filter(hasResult).map(({ id }) => id);
}

function hasResult(node: PlanNode | undefined): boolean {
  return node?.output !== undefined || (node?.writes?.length ?? 0) > 0;
}

/** A node of a plan, or of a plan inside it. */
export interface InnerNode {
  /** The ids of the nodes around it and its own, such as `reviews/style`. */
  readonly path: string;
  readonly node: PlanNode;
  /** The channel of the outer plan that holds its result. Undefined if the result does not leave the plan that the node is in. */
  readonly channel: string | undefined;
}

/** Finds a node by the ids of the nodes around it and its own: `reviews/style`. */
export function innerNode(plan: Plan, path: string): InnerNode | undefined {
  const [id = '', ...rest] = path.split('/');
  const node = nodesById(plan).get(id);
  if (node === undefined) return undefined;
  if (rest.length === 0) return { path, node, channel: node.output };
  const inside = 'plan' in node ? innerNode(node.plan, rest.join('/')) : undefined;
  return inside === undefined ? undefined : { ...inside, path, channel: leavingAs(node, inside.channel) };
}

/** The channel to which a node hands a channel of its inner plan on. */
function leavingAs(node: PlanNode, inner: string | undefined): string | undefined {
  if (inner === undefined || node.kind === 'map') return undefined;
  const sources = 'outputs' in node ? node.outputs : undefined;
  return node.writes?.find((name) => (sources?.[name] ?? name) === inner);
}
