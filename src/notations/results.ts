import { addTo } from '../base/collections.js';
import type { Json } from '../base/json.js';
import { END, PLAN_VALUES, type Plan, type PlanNode } from '../plan/plan.js';
import { schemaOfNames } from './values-key.js';

/**
 * Returns the nodes that hold the results of a file, in plan order: the nodes at which its flow ends. If the flow ends without having done
 * anything, as after an empty branch, the nodes before that point count.
 */
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

function hasResult(node: PlanNode | undefined): boolean {
  return node?.output !== undefined || (node?.writes?.length ?? 0) > 0;
}

export interface CalledOutput {
  readonly channel: string;
  readonly label: string;
  /** The ids of its blocks, then its own. */
  readonly names: readonly string[];
}

/**
 * Returns the outputs of a called workflow in its own order: its declared result, or the labelled channels of a pipeline, or the outputs of
 * the agents of any other workflow.
 */
export function calledOutputs(plan: Plan): readonly CalledOutput[] {
  if (plan.values !== undefined) return [{ channel: PLAN_VALUES, label: 'result', names: [] }];
  const last = plan.nodes.find(({ id }) => id === plan.finally);
  const hidden = new Set(last?.writes);
  const labelled = plan.channels.filter(({ name, label }) => label !== undefined && !hidden.has(name));
  if (labelled.length > 0)
    return labelled.map(({ name, label = name }) => ({ channel: name, label, names: namesOf(name) }));
  return plan.nodes.flatMap((node) => {
    if (node.output === undefined) return [];
    const who = node.kind === 'agent' ? ` (agent: ${node.agent.name})` : '';
    return [{ channel: node.output, label: `${node.id}${who}`, names: [node.id] }];
  });
}

/** Returns the channel that holds the result of a called workflow. Undefined if it has several results, or none. */
export function calledResult(plan: Plan): string | undefined {
  if (plan.values !== undefined) return PLAN_VALUES;
  const [only, ...more] = resultNodes(plan);
  return more.length > 0 ? undefined : plan.nodes.find((node) => node.id === only)?.output;
}

/** Returns the JSON Schema of a called workflow's declared result: its names, each with any value. */
export function resultSchema(plan: Plan | undefined): Json | undefined {
  return plan?.values === undefined ? undefined : schemaOfNames(Object.keys(plan.values));
}

function namesOf(channel: string): readonly string[] {
  return channel
    .replace(/^steps\./, '')
    .replace(/\.output$/, '')
    .split('/');
}
