import type { Plan } from '../../plan/plan.js';
import { resultNodes } from './results.js';

/** An output of a called workflow. */
export interface CalledOutput {
  readonly channel: string;
  readonly label: string;
  /** Ids of its blocks, and its own. */
  readonly names: readonly string[];
}

/**
 * The outputs of a called workflow in its own order: the labelled channels of a pipeline, those of the agents of any other workflow.
 *
 * @example
 * calledOutputs(plan).map((output) => output.label); // ['gen (agent: generator)']
 */
export function calledOutputs(plan: Plan): readonly CalledOutput[] {
  const labelled = plan.channels.filter((channel) => channel.label !== undefined);
  if (labelled.length > 0)
    return labelled.map(({ name, label = name }) => ({ channel: name, label, names: namesOf(name) }));
  return plan.nodes.flatMap((node) => {
    if (node.output === undefined) return [];
    const who = node.kind === 'agent' ? ` (agent: ${node.agent.name})` : '';
    return [{ channel: node.output, label: `${node.id}${who}`, names: [node.id] }];
  });
}

/**
 * The channel of a called workflow whose value is its result; undefined when it has several results, or none.
 *
 * @example
 * calledResult(plan); // 'steps.publish.output'
 */
export function calledResult(plan: Plan): string | undefined {
  const [only, ...more] = resultNodes(plan);
  return more.length > 0 ? undefined : plan.nodes.find((node) => node.id === only)?.output;
}

function namesOf(channel: string): readonly string[] {
  return channel
    .replace(/^steps\./, '')
    .replace(/\.output$/, '')
    .split('/');
}
