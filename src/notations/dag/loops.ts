import { present } from '../../base/json.js';
import type { Condition } from '../../lang/values.js';
import type { ChannelSpec, InputSpec, LoopNode, MapNode, NodeBase, Plan, PlanNode } from '../../plan/plan.js';
import { conditionReferences, referencesOf } from '../../plan/references.js';
import type { Findings } from '../../text/findings.js';
import { buildUntil } from './conditions.js';
import {
  beforeChannel,
  countChannel,
  endingChannel,
  itemChannel,
  stepChannel,
  type MapSteps,
  type StepDef,
} from './definition.js';
import type { References } from './references.js';

interface LoopParts {
  readonly base: NodeBase;
  readonly course: Pick<Plan, 'nodes' | 'edges' | 'routes'>;
  readonly references: References;
}

/** Builds the node of a loop. Its steps read of the file and of the previous round; its output is that of its last step. */
export function loopNode(step: StepDef, { base, course, references }: LoopParts, findings: Findings): LoopNode {
  const { maxRounds = 1, rounds, keep, onMaxRounds, steps = [] } = step.loop ?? {};
  const until = buildUntil(step, references, findings);
  const talks = conversationsOf(course.nodes);
  const reads = readsOf(course.nodes, until);
  const inside = outputsIn(steps, references);
  const endings = endingsIn(steps, references);
  const own = writtenIn(steps, references);
  const before = [...own].filter((name) => reads.has(beforeChannel(name)));
  const given = [...reads, ...talks.filter((name) => !reads.has(name))].filter((name) => !own.has(name));
  const inputs = [...given, ...testedIn(until, own)].map(inputOf(own));
  const outputs: readonly (readonly [outer: string, inner: string])[] = [
    ...(references.graph.hasOutput(step.id)
      ? [[stepChannel(step.id), stepChannel(steps.at(-1)?.id ?? '')] as const]
      : []),
    ...inside.map((ids) => [stepChannel(step.id, ...ids), stepChannel(...ids)] as const),
    ...endings.map((ids) => [endingChannel(step.id, ...ids), endingChannel(...ids)] as const),
    ...talks.map((name) => [name, name] as const),
  ];
  return {
    ...base,
    kind: 'loop',
    writes: outputs.map(([outer]) => outer),
    plan: innerPlan(step.id, inputs, course),
    outputs: Object.fromEntries(outputs),
    until,
    maxRounds,
    ...present({
      carry: talks.length === 0 ? undefined : talks,
      carryAs:
        before.length === 0
          ? undefined
          : Object.fromEntries(before.map((name) => [beforeChannel(name), name] as const)),
      rounds: rounds && references.named(rounds, step, 'rounds'),
      onMaxRounds,
      keep,
    }),
  };
}

export function innerPlan(
  name: string,
  inputs: readonly InputSpec[],
  course: Pick<Plan, 'nodes' | 'edges' | 'routes'>,
): Plan {
  return { format: 1, name, notation: 'dag', inputs, channels: channelsOf(inputs, course.nodes), ...course };
}

/** Returns the channels that steps write: their outputs, and their endings where they are read. */
export function writtenIn(steps: readonly StepDef[], references: References): ReadonlySet<string> {
  return new Set([
    ...outputsIn(steps, references).map((ids) => stepChannel(...ids)),
    ...endingsIn(steps, references).map((ids) => endingChannel(...ids)),
  ]);
}

export function channelsOf(inputs: readonly InputSpec[], nodes: readonly PlanNode[]): readonly ChannelSpec[] {
  const talks = conversationsOf(nodes);
  const written = nodes.flatMap((node) => [node.output ?? [], node.writes ?? [], node.ending ?? []].flat());
  const plain = new Set([...inputs.map(({ channel }) => channel), ...written]);
  for (const name of talks) plain.delete(name);
  return [...[...plain].map((name) => ({ name })), ...talks.map((name) => ({ name, reducer: 'extend' as const }))];
}

/** Returns the steps of a loop that have outputs, and the outputs inside them that are visible outside, by the ids that lead there. */
export function outputsIn(steps: readonly StepDef[], references: References): readonly (readonly string[])[] {
  return steps.flatMap((step) => {
    const { id, loop, call } = step;
    const called = call === undefined ? undefined : references.called.get(id);
    const own = references.graph.hasOutput(id) && (call === undefined || called?.result !== undefined) ? [[id]] : [];
    const inner = [...outputsIn(loop?.steps ?? [], references), ...(called?.outputs ?? []).map(({ names }) => names)];
    return [...own, ...inner.map((ids) => [id, ...ids])];
  });
}

/** Returns the steps of a loop, and of loops inside it, whose ending is read, by the ids that lead there. */
export function endingsIn(steps: readonly StepDef[], references: References): readonly (readonly string[])[] {
  return steps.flatMap(({ id, loop }) => {
    const inner = endingsIn(loop?.steps ?? [], references).map((ids) => [id, ...ids]);
    return references.tells.has(id) ? [[id], ...inner] : inner;
  });
}

/** Returns the channels of the conversations that nodes, and nodes inside them, take part in. */
export function conversationsOf(nodes: readonly PlanNode[]): readonly string[] {
  const names = nodes.flatMap((node) => {
    if (node.kind === 'agent') return node.conversation === undefined ? [] : [node.conversation.channel];
    if (node.kind === 'map') return talksIn(node.plan);
    return node.kind === 'loop' ? (node.carry ?? []) : [];
  });
  return [...new Set(names)];
}

function talksIn({ channels }: Plan): readonly string[] {
  return channels.flatMap(({ name, reducer }) => (reducer === 'extend' ? [name] : []));
}

/** Returns what a loop or a map reads from outside: neither its item nor outputs of the previous round. */
function fromAround(node: LoopNode | MapNode): readonly string[] {
  const own = new Set(node.kind === 'map' ? [node.item, node.index, node.itemKey] : Object.keys(node.carryAs ?? {}));
  return node.plan.inputs.flatMap(({ channel }) => (own.has(channel) ? [] : [channel]));
}

export function readsOf(nodes: readonly PlanNode[], until: readonly Condition[]): ReadonlySet<string> {
  const inside = nodes.flatMap((node) => (node.kind === 'call' || !('plan' in node) ? [] : fromAround(node)));
  const references = [...nodes.flatMap(referencesOf), ...conditionReferences(until, 'until')];
  return new Set([...references.map(({ channel }) => channel), ...inside]);
}

/** Returns the loop's own outputs that must be true. They default to empty, like the output of a skipped step. */
function testedIn(until: readonly Condition[], own: ReadonlySet<string>): readonly string[] {
  return until.flatMap((condition) =>
    condition.op === 'truthy' && own.has(condition.value.channel) ? [condition.value.channel] : [],
  );
}

function inputOf(own: ReadonlySet<string>): (channel: string) => InputSpec {
  return (channel) => ({ channel, name: channel, required: false, ...(own.has(channel) ? { default: '' } : {}) });
}

interface MapParts extends LoopParts {
  readonly map: MapSteps;
}

/** Builds the node of a map. The result for an item is the output of its last step. Problem code: `map-result`. */
export function mapNode(step: StepDef, { map, base, course, references }: MapParts, findings: Findings): MapNode {
  const { over, as: _as, steps, ...bounds } = map;
  const item = itemChannel(step.id);
  const counts = [countChannel(step.id, 'index'), countChannel(step.id, 'key')] as const;
  const own = new Set([item, ...counts, ...writtenIn(steps, references)]);
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
    plan: innerPlan(step.id, inputs, course),
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
