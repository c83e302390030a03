import { runsFunction } from './nodes.js';
import type { Plan, PlanNode } from './plan.js';
import { conditionReferences, referencesOf, routeReferences, valueReferences, type Reference } from './references.js';

/** Returns whether a plan reads an input: in a step, a route, the end of a loop, or its result. Functions may read everything. */
export function readsInput(plan: Plan, name: string): boolean {
  const declared = plan.inputs.find((input) => input.name === name)?.channel;
  const channel = declared ?? (plan.openInputs === true ? name : undefined);
  return channel !== undefined && readsChannel(plan, channel);
}

function readsChannel(plan: Plan, channel: string): boolean {
  const isRead = (references: readonly Reference[]): boolean => references.some((each) => each.channel === channel);
  return (
    plan.output?.includes(channel) === true ||
    isRead(valueReferences(plan)) ||
    plan.routes.some((route) => route.choose === 'code' || isRead(routeReferences(route))) ||
    plan.nodes.some((node) => asksFunction(node) || nodeReads(node, channel))
  );
}

function asksFunction(node: PlanNode): boolean {
  const conditions = [...(node.when ?? []), ...(node.kind === 'loop' ? node.until : [])];
  const isGuided = node.kind === 'agent' && node.choice === 'code';
  return isGuided || runsFunction(node) || conditions.some(({ op }) => op === 'code');
}

function nodeReads(node: PlanNode, channel: string): boolean {
  const own = referencesOf(node).filter((each) => each.channel === channel);
  if (!('plan' in node)) return own.length > 0;
  if (own.some(({ path }) => !path.startsWith('inputs.'))) return true;
  return innerChannels(node, own, channel).some((inner) => readsChannel(node.plan, inner) || endReads(node, inner));
}

/** Returns the names in a node's sub-plan of the values that it receives from a channel. */
function innerChannels(
  { kind, plan, inputs }: Extract<PlanNode, { readonly plan: Plan }>,
  own: readonly Reference[],
  channel: string,
): readonly string[] {
  if (inputs === undefined) {
    const isGiven = plan.openInputs === true || plan.inputs.some((input) => input.channel === channel);
    return kind !== 'map' && isGiven ? [channel] : [];
  }
  return Object.keys(inputs).filter((name) =>
    own.some(({ path }) => path === `inputs.${name}` || path.startsWith(`inputs.${name}.`)),
  );
}

function endReads(node: PlanNode, channel: string): boolean {
  return node.kind === 'loop' && conditionReferences(node.until, 'until').some((each) => each.channel === channel);
}
