import { calledText } from '../tool-steps.js';
import type { Plan } from '../../plan/plan.js';
import { calledOutputs } from '../results.js';
import type { CallDef } from '../step-keys.js';
import { branchesOf, type CallStep, type PipelineDef, type StepDef } from './definition.js';

export interface Output {
  readonly channel: string;
  /** The label in the block of outputs. Undefined: it is not part of the block. */
  readonly label: string | undefined;
  /** Position among all outputs of the file, as declared. */
  readonly order: number;
  /** The channel in the called file's plan. */
  readonly inner?: string;
}

export interface Placed {
  readonly step: StepDef;
  readonly block: Block;
  readonly at: number;
  /** Index of the step of a parallel block that it belongs to; 0 elsewhere. */
  readonly chain: number;
  /** The block of a parallel, sequence, loop or map step. */
  readonly inner: Block | undefined;
  /** The outputs that the surrounding block gets. */
  readonly outputs: readonly Output[];
  /** The channel of the step's ending, if it is read. */
  readonly ending: Output | undefined;
}

/** The top-level list, or the steps of a parallel, a sequence, a loop or a map. Branches of a condition belong to its block. */
export interface Block {
  readonly kind: 'list' | 'parallel' | 'sequence' | 'loop' | 'map';
  /** Prefix of the ids in the block. Empty for the top-level list. */
  readonly path: string;
  readonly holder: Placed | undefined;
  readonly roots: readonly StepDef[];
  /** All steps, with those of branches after their condition. */
  readonly steps: readonly Placed[];
  readonly byId: ReadonlyMap<string, Placed>;
}

type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenBlock = Open<Omit<Block, 'steps' | 'byId'>> & { steps: Placed[]; byId: Map<string, Placed> };

interface Placing {
  readonly marks: { readonly told: ReadonlySet<StepDef>; readonly counted: ReadonlySet<StepDef> };
  readonly calls: ReadonlyMap<CallDef, Plan>;
  order: number;
}

/** Places every step of a pipeline in its block, and assigns channels and labels to all outputs. */
export function placeSteps(definition: PipelineDef, calls: ReadonlyMap<CallDef, Plan>, marks: Placing['marks']): Block {
  return placeBlock({ kind: 'list', path: '', holder: undefined, roots: definition.steps }, { calls, marks, order: 0 });
}

function placeBlock(head: Pick<Block, 'kind' | 'path' | 'holder' | 'roots'>, placing: Placing): OpenBlock {
  const block: OpenBlock = { ...head, steps: [], byId: new Map() };
  head.roots.forEach((step, at) => placeStep(step, block, head.kind === 'parallel' ? at : 0, placing));
  return block;
}

function placeStep(step: StepDef, block: OpenBlock, chain: number, placing: Placing): void {
  const placed: Open<Placed> = {
    step,
    block,
    at: block.steps.length,
    chain,
    inner: undefined,
    outputs: [],
    ending: undefined,
  };
  block.steps.push(placed);
  // If several steps have the same id, which was reported, the first one counts.
  if (!block.byId.has(step.id)) block.byId.set(step.id, placed);
  const path = block.path === '' ? step.id : `${block.path}/${step.id}`;
  if ('steps' in step) {
    // The output of a map belongs to the map; the outputs of its steps are visible only inside.
    if (step.type === 'map') placed.outputs = [output(path, `${path} (map)`, placing)];
    placed.inner = placeBlock({ kind: step.type, path, holder: placed, roots: step.steps }, placing);
    if (step.type !== 'map') placed.outputs = placed.inner.steps.flatMap(givenBy);
  } else placed.outputs = outputsOf(step, path, placing);
  if (placing.marks.told.has(step))
    placed.ending = { channel: endingChannel(path), label: undefined, order: placing.order++ };
  for (const each of branchesOf(step).flat()) placeStep(each, block, chain, placing);
}

/** Returns the channels that the surrounding block gets from a step: its outputs, and its ending. */
export function givenBy({ outputs, ending }: Placed): readonly Output[] {
  return ending === undefined ? outputs : [...outputs, ending];
}

export function endingChannel(path: string): string {
  return `steps.${path}.ending`;
}

export function pathOf({ step, block }: Placed): string {
  return block.path === '' ? step.id : `${block.path}/${step.id}`;
}

function outputsOf(step: StepDef, path: string, placing: Placing): readonly Output[] {
  switch (step.type) {
    case 'agent':
      return [output(path, `${path} (agent: ${step.agent?.text ?? ''})`, placing)];
    case 'run':
    case 'tool':
      return [output(path, `${path} (${calledText(step.tool)})`, placing)];
    case 'ask':
      return [output(path, `${path} (answer)`, placing)];
    case 'set':
      return [output(path, `${path} (set)`, placing)];
    case 'wait':
      return step.wait.event === undefined ? [] : [output(path, `${path} (event: ${step.wait.event})`, placing)];
    case 'call':
      return calledBy(step, path, placing);
    case 'condition':
    case 'end':
    case 'goto':
    case 'loop':
    case 'map':
    case 'parallel':
    case 'sequence':
      return [];
  }
}

/** Returns the outputs of a called file. A file that could not be loaded was reported. */
function calledBy({ call }: CallStep, path: string, placing: Placing): readonly Output[] {
  const plan = placing.calls.get(call);
  if (plan === undefined) return [];
  return calledOutputs(plan).map(({ channel, label, names }) => {
    const given =
      names.length === 0
        ? output(path, `${path} (${label})`, placing)
        : output([path, ...names].join('/'), `${path}/${label}`, placing);
    return { ...given, inner: channel };
  });
}

function output(path: string, label: string, placing: Placing): Output {
  return { channel: `steps.${path}.output`, label, order: placing.order++ };
}

/** Returns the step whose output is that of a loop or of a map's item: the last one, or the last one of a block at the end. */
export function lastOf({ inner }: Placed): Placed | undefined {
  const last = inner?.byId.get(inner.roots.at(-1)?.id ?? '');
  return last?.step.type === 'sequence' || last?.step.type === 'loop' ? lastOf(last) : last;
}

/** Returns the output of the last step of a loop or a map. Undefined unless it has exactly one. */
export function resultOf(placed: Placed): Output | undefined {
  const last = lastOf(placed);
  const [only, ...more] = last?.outputs ?? [];
  return more.length === 0 && last?.step.type !== 'parallel' ? only : undefined;
}

/** Yields a step and those that enclose it, innermost first. */
export function* around(placed: Placed): Generator<Placed> {
  for (let here: Placed | undefined = placed; here !== undefined; here = here.block.holder) yield here;
}

export function* allSteps(block: Block): Generator<Placed> {
  for (const placed of block.steps) {
    yield placed;
    if (placed.inner !== undefined) yield* allSteps(placed.inner);
  }
}

export interface Item {
  readonly channel: string;
  readonly name: string;
  readonly map: StepDef;
  readonly index: string;
  readonly key: string;
}

/** Returns the items visible to a step, innermost first. */
export function itemsOf(reader: Placed): readonly Item[] {
  const items: Item[] = [];
  for (const { block } of around(reader)) {
    if (block.kind === 'map' && block.holder?.step.type === 'map')
      items.push(itemOf(block.holder, block.holder.step.map.as));
  }
  return items;
}

function itemOf(placed: Placed, name: string): Item {
  const channel = `items.${pathOf(placed)}`;
  return { channel, name, map: placed.step, index: `${channel}.index`, key: `${channel}.key` };
}

/** Returns the channels of an item in its map's plan, including index and key if they are read. */
export function channelsOfItem({ channel, index, key, map }: Item, counted: ReadonlySet<StepDef>): readonly string[] {
  return counted.has(map) ? [channel, index, key] : [channel];
}

export function itemIn(map: Placed): Item {
  return itemOf(map, map.step.type === 'map' ? map.step.map.as : '');
}

/** Returns the item with a name: that of the innermost map that uses it, or for `item` that of the innermost map. */
export function findMap(name: string, reader: Placed): Item | undefined {
  const items = itemsOf(reader);
  return items.find((item) => item.name === name) ?? (name === 'item' ? items[0] : undefined);
}

export interface Address {
  readonly placed: Placed;
  readonly names: readonly string[];
}

/** Yields the steps in a block, and in the blocks inside it, that have outputs visible outside. Steps inside a map do not. */
export function* addressesIn(block: Block): Generator<Address> {
  for (const placed of block.steps) {
    const names = ['outputs', placed.step.id];
    const { type } = placed.step;
    const isOne = ['agent', 'run', 'tool', 'ask', 'map', 'wait', 'set'].includes(type);
    if (isOne && placed.outputs.length > 0) yield { placed, names };
    if (placed.inner === undefined || type === 'map') continue;
    for (const inner of addressesIn(placed.inner)) yield { ...inner, names: [...names, ...inner.names] };
  }
}

/** Returns the channels of the conversations that steps of a block, and of blocks inside it, take part in. */
export function conversationsIn(block: Block): readonly string[] {
  const channels = [...allSteps(block)].map(({ step }) => step.type === 'agent' && step.conversation?.channel);
  return [...new Set(channels.filter((channel) => typeof channel === 'string'))];
}
