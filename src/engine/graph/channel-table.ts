import type { Bindings, ChannelSpec, Plan, PlanNode } from '../../plan/plan.js';
import { reducerFor, type Reducer, type ReducerFunction } from '../../plan/reducers.js';
import { fieldChannels } from '../../plan/references.js';
import { boundFunction } from './bound-functions.js';

/** The channels by index. Those of the plan come first, in plan order; a scope adds names that appear at run time. */
export interface ChannelTable {
  readonly names: readonly string[];
  readonly index: ReadonlyMap<string, number>;
  readonly reducers: readonly (Reducer | undefined)[];
  readonly schemas: readonly unknown[];
  /** True if no other names may be written. */
  readonly closed: boolean;
}

/** Names of the values that a node passes to its sub-plan, declared there or not. */
export function givenBy(node: Extract<PlanNode, { readonly plan: Plan }>): readonly string[] {
  const named = Object.keys(node.inputs ?? {});
  return node.kind === 'map' ? [node.item, ...named] : named;
}

/** The channels of a plan: declared ones, inputs, and those that its nodes write. */
export function tableOf(plan: Plan, bindings: Bindings, prefix: string, given: readonly string[]): ChannelTable {
  const specs = new Map<string, ChannelSpec>();
  for (const input of plan.inputs) specs.set(input.channel, { name: input.channel });
  for (const channel of plan.channels) specs.set(channel.name, channel);
  const add = (name: string): unknown => specs.has(name) || specs.set(name, { name });
  for (const node of plan.nodes) writtenBy(node).forEach(add);
  if (plan.openInputs === true) given.forEach(add);
  const list = [...specs.values()];
  return {
    names: list.map((channel) => channel.name),
    index: new Map(list.map((channel, at) => [channel.name, at])),
    reducers: list.map((channel) => reducerOf(channel, bindings, prefix)),
    schemas: list.map((channel) => bindings[`${prefix}schema:${channel.name}`]),
    closed: plan.closedState ?? false,
  };
}

function writtenBy(node: PlanNode): readonly string[] {
  const { output, writes = [] } = node;
  return [...(output === undefined ? [] : [output]), ...writes, ...fieldChannels(node)];
}

function reducerOf(channel: ChannelSpec, bindings: Bindings, prefix: string): Reducer | undefined {
  if (channel.reducer === undefined) return undefined;
  if (channel.reducer !== 'code') return reducerFor(channel.reducer);
  const key = `${prefix}channel:${channel.name}`;
  return reducerFor(boundFunction(bindings[key], key) as ReducerFunction);
}
