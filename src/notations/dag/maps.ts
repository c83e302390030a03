import { present } from '../../base/json.js';
import type { InputSpec, MapNode, NodeBase, Plan } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import type { MapSteps, StepDef } from './definition.js';
import { channelsOf, conversationsOf, endingsIn, outputsIn, readsOf } from './loops.js';
import { countChannel, endingChannel, itemChannel, stepChannel } from './definition.js';
import type { References } from './references.js';

/** The parts of a map. */
interface MapParts {
  readonly map: MapSteps;
  /** The fields that all nodes share. */
  readonly base: NodeBase;
  /** The map's steps. */
  readonly course: Pick<Plan, 'nodes' | 'edges' | 'routes'>;
  readonly references: References;
}

/**
 * Builds the node of a map. Its steps are a plan, whose inputs are the item and what the steps read of the file. The result for an item is
 * the output of its last step. Problem codes: `map-result`, and those of references.
 */
export function mapNode(step: StepDef, { map, base, course, references }: MapParts, findings: Findings): MapNode {
  const { over, as: _as, steps, ...bounds } = map;
  const item = itemChannel(step.id);
  const inside = outputsIn(steps, references).map((ids) => stepChannel(...ids));
  const counts = [countChannel(step.id, 'index'), countChannel(step.id, 'key')] as const;
  const told = endingsIn(steps, references).map((ids) => endingChannel(...ids));
  const own = new Set([item, ...counts, ...inside, ...told]);
  const read = new Set([...readsOf(course.nodes, []), ...conversationsOf(course.nodes)]);
  const given = [...read].filter((channel) => !own.has(channel));
  const [index, itemKey] = counts.map((channel) => (read.has(channel) ? channel : undefined));
  const ofItem = [item, index, itemKey].filter((channel) => channel !== undefined);
  const inputs = [...ofItem, ...given].map((channel): InputSpec => ({ channel, name: channel, required: false }));
  const list = over && references.named(over, step, 'over');
  return present({
    ...base,
    kind: 'map' as const,
    writes: [stepChannel(step.id)],
    plan: {
      format: 1 as const,
      name: step.id,
      notation: 'dag',
      inputs,
      channels: channelsOf(inputs, course.nodes),
      ...course,
    },
    over: list ?? { channel: item },
    item,
    index,
    itemKey,
    inputs: Object.fromEntries(given.map((channel) => [channel, { channel }])),
    result: resultOf(step, steps, { references, findings }),
    ...bounds,
  });
}

/** Returns the channel of a map's result for an item. */
function resultOf(
  { label }: StepDef,
  steps: readonly StepDef[],
  { references: { graph, called }, findings }: { readonly references: References; readonly findings: Findings },
): string {
  const last = steps.at(-1);
  const id = last?.id ?? '';
  const isKnown = last?.call === undefined || called.get(id)?.result !== undefined;
  if (last !== undefined && (!graph.hasOutput(id) || !isKnown)) {
    const hint = 'end the steps of the map with one that gives something';
    findings.error('map-result', `${label} ends with ${last.label}, which has no output`, last.at, hint);
  }
  return stepChannel(id);
}
