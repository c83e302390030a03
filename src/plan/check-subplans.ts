import { didYouMean } from '../base/suggest.js';
import { nameOf, type Scope } from './check-scope.js';
import type { Writers } from './check-references.js';
import { isChannelName } from './check-names.js';
import { PLAN_VALUES, WHOLE_STATE, type LoopNode, type PlanNode } from './plan.js';
import { valueReferences } from './references.js';
import { isNeeded } from './nodes.js';

/**
 * Checks what passes between a plan and the sub-plans of its nodes: `unknown-channel` for a name that the sub-plan doesn't have,
 * `missing-input` for a required input without a source.
 */
export function checkSubPlans(scope: Scope, writers: Writers, inner: (node: number) => Writers | undefined): void {
  scope.plan.nodes.forEach((node, at) => {
    if (!('plan' in node)) return;
    const within = inner(at);
    if (within === undefined) return;
    checkGiven(scope, within, node, at);
    checkTaken(scope, within, node, at);
    checkRequired(scope, writers, node, at);
    checkJumps(scope, node, at);
  });
}

/** Reports `undeclared-target` for a node at which the sub-plan may continue, but that this plan does not declare. */
function checkJumps({ plan, findings, ...scope }: Scope, node: SubPlanNode, at: number): void {
  const known = plan.routes.find(({ from, choose }) => from === node.id && choose === 'result')?.targets ?? [];
  const missing = node.plan.routes.flatMap(({ parent = [] }) => parent).filter((name) => !known.includes(name));
  const [first] = missing;
  if (first === undefined) return;
  const what = `the workflow in ${nameOf({ plan, findings, ...scope }, at)} may continue at ${JSON.stringify(first)}`;
  const names = [...new Set([...known, ...missing])].map((name) => `'${name}'`).join(', ');
  const hint =
    node.kind === 'call' ? `say so at the node: goto: [${names}]` : 'only a workflow that is a node by itself can';
  findings.add('undeclared-target', `${what}, which is not a declared target of the node`, { node: at, hint });
}

type SubPlanNode = Extract<PlanNode, { readonly plan: unknown }>;

function checkGiven(scope: Scope, { inputs }: Writers, node: SubPlanNode, at: number): void {
  const { plan } = node;
  const given = Object.keys(node.inputs ?? {}).map((name) => ({ name, path: `inputs.${name}` }));
  if (node.kind === 'loop') {
    for (const name of Object.keys(node.carryAs ?? {})) given.push({ name, path: `carryAs.${name}` });
    for (const name of Object.keys(node.collect ?? {})) given.push({ name, path: `collect.${name}` });
  }
  if (node.kind === 'map') given.push({ name: node.item, path: 'item' });
  // A plan that declares all keys of its state accepts any of them as input.
  const keys = new Set(plan.closedState === true ? plan.channels.map((channel) => channel.name) : []);
  for (const { name, path } of given) {
    if (inputs.has(name) || keys.has(name) || (plan.openInputs === true && isChannelName(name))) continue;
    const known = [...new Set([...inputs, ...keys])];
    const hint = didYouMean(name, known) ?? `its inputs are: ${known.length === 0 ? 'none' : known.join(', ')}`;
    const message = `the workflow in ${nameOf(scope, at)} has no input ${JSON.stringify(name)}`;
    scope.findings.add('unknown-channel', message, { node: at, path, hint });
  }
}

/** Checks the declared output of a plan: `unknown-channel` for a key that no node writes. */
export function checkOutput({ plan, channels, findings }: Scope, writers: Writers): void {
  if (writers.unknown.length > 0 && (writers.open || plan.closedState !== true)) return;
  const { inputs, byChannel } = writers;
  for (const { channel, path } of valueReferences(plan)) {
    if (inputs.has(channel) || byChannel.has(channel) || channels.has(channel) || writers.open) continue;
    const message = `the output reads ${JSON.stringify(channel)}, which is not an input and which no node writes`;
    findings.add('unknown-reference', message, { path });
  }
  plan.output?.forEach((name, index) => {
    if (inputs.has(name) || byChannel.has(name) || channels.has(name)) return;
    const known = [...new Set([...inputs, ...byChannel.keys(), ...channels.keys()])];
    const hint = didYouMean(name, known) ?? `its keys are: ${known.slice(0, 8).join(', ')}`;
    findings.add('unknown-channel', `the output names ${JSON.stringify(name)}, which nothing writes`, {
      path: `output[${index}]`,
      hint,
    });
  });
}

function checkTaken(scope: Scope, within: Writers, node: SubPlanNode, at: number): void {
  checkPrivate(scope, node, at);
  checkNested(scope, node, at);
  const { closedState = false, channels } = node.plan;
  const given = new Set([...Object.keys(node.inputs ?? {}), ...(node.kind === 'map' ? [node.item] : [])]);
  if ((within.open && node.inputs === undefined) || (within.unknown.length > 0 && !closedState)) return;
  const known = [
    ...new Set([...within.byChannel.keys(), ...(closedState ? channels.map((channel) => channel.name) : [])]),
  ];
  for (const { name, path } of takenFrom(node)) {
    if (isWhole(name, node) || within.inputs.has(name) || known.includes(name)) continue;
    if (within.open && given.has(name)) continue;
    const hint =
      didYouMean(name, known) ?? `it writes: ${known.length === 0 ? 'nothing' : known.slice(0, 8).join(', ')}`;
    const message = `nothing in the workflow in ${nameOf(scope, at)} writes ${JSON.stringify(name)}`;
    scope.findings.add('unknown-channel', message, { node: at, path, hint });
  }
}

/** Reports `private-channel` for a channel that the sub-plan does not output. What a loop carries stays inside it. */
function checkPrivate(scope: Scope, node: SubPlanNode, at: number): void {
  const { output } = node.plan;
  if (output === undefined) return;
  const carried = node.kind === 'loop' ? carriedBy(node).map(({ name }) => name) : [];
  for (const { name, path } of takenFrom(node)) {
    if (isWhole(name, node) || output.includes(name) || carried.includes(name)) continue;
    const message = `${JSON.stringify(name)} is private to the workflow in ${nameOf(scope, at)}`;
    const hint = didYouMean(name, output) ?? `it gives: ${output.join(', ')}`;
    scope.findings.add('private-channel', message, { node: at, path, hint });
  }
}

/** Reports `nested-list` for a list that the sub-plan is given and adds to, and that would be added as a whole to itself, as one item. */
function checkNested(scope: Scope, node: SubPlanNode, at: number): void {
  if (node.kind === 'map') return;
  for (const [outer, inner] of Object.entries(node.outputs ?? {})) {
    const source = node.inputs === undefined ? { channel: inner } : node.inputs[inner];
    const isOwn = source !== undefined && 'channel' in source && source.channel === outer;
    const reducer = node.plan.channels.find(({ name }) => name === inner)?.reducer;
    if (!isOwn || scope.channels.get(outer)?.reducer !== 'append' || (reducer !== 'append' && reducer !== 'extend'))
      continue;
    const message = `the list ${JSON.stringify(outer)} is given to the workflow in ${nameOf(scope, at)}, and would be added to itself as one item`;
    const hint = `give ${JSON.stringify(outer)} the reducer 'extend': then what the workflow adds is added`;
    scope.findings.add('nested-list', message, { node: at, path: `outputs.${outer}`, hint });
  }
}

/** True if the name stands for all outputs, in one object. */
function isWhole(name: string, { plan }: SubPlanNode): boolean {
  return name === WHOLE_STATE || (name === PLAN_VALUES && plan.values !== undefined);
}

interface Taken {
  readonly name: string;
  readonly path: string;
}

/** Returns what a round takes from earlier rounds. */
function carriedBy({ carry = [], carryAs = {}, collect = {} }: LoopNode): readonly Taken[] {
  return [
    ...carry.map((name, index) => ({ name, path: `carry[${index}]` })),
    ...Object.entries(carryAs).map(([to, name]) => ({ name, path: `carryAs.${to}` })),
    ...Object.entries(collect).map(([list, name]) => ({ name, path: `collect.${list}` })),
  ];
}

function takenFrom(node: SubPlanNode): readonly Taken[] {
  if (node.kind === 'map') return [{ name: node.result, path: 'result' }];
  const carried = node.kind === 'loop' ? carriedBy(node) : [];
  const outputs = Object.entries(node.outputs ?? {}).map(([outer, name]) => ({ name, path: `outputs.${outer}` }));
  if (node.outputs !== undefined) return [...carried, ...outputs];
  return [...carried, ...(node.writes ?? []).map((name, index) => ({ name, path: `writes[${index}]` }))];
}

function checkRequired(scope: Scope, writers: Writers, node: SubPlanNode, at: number): void {
  if (writers.unknown.length > 0) return;
  for (const input of node.plan.inputs) {
    if (!isNeeded(input)) continue;
    const isItem = node.kind === 'map' && node.item === input.channel;
    const isGiven = node.inputs !== undefined && Object.hasOwn(node.inputs, input.channel);
    // Without a list of inputs, a channel of the same name is used. A map passes only the item on its own.
    const isTaken =
      node.inputs === undefined &&
      (writers.open || writers.inputs.has(input.channel) || writers.byChannel.has(input.channel));
    if (isItem || isGiven || isTaken) continue;
    const message = `the workflow in ${nameOf(scope, at)} needs the input ${JSON.stringify(input.name)}, and nothing provides it`;
    scope.findings.add('missing-input', message, {
      node: at,
      path: 'inputs',
      hint: 'add it to inputs, or give it a default',
    });
  }
}
