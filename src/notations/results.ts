import type { Json } from '../base/json.js';
import { PLAN_VALUES, type Plan } from '../plan/plan.js';
import { nodesById } from '../plan/nodes.js';
import { resultNodes } from '../plan/result-nodes.js';
import { schemaOfNames } from './values-key.js';

export interface CalledOutput {
  readonly channel: string;
  readonly label: string;
  /** The ids of its blocks, then its own. */
  readonly names: readonly string[];
}

/** Returns the outputs of a called workflow: its declared result, a pipeline's labelled channels, or the agents' outputs. */
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
  return only === undefined || more.length > 0 ? undefined : nodesById(plan).get(only)?.output;
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
