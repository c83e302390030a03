import { runsFunction } from './nodes.js';
import { addTo } from '../base/collections.js';
import { analyzeShape, routeTargets } from './graph-shape.js';
import type { Plan, PlanNode } from './plan.js';
import { readsOutputs, referencesOf, routeReferences, writtenChannels } from './references.js';

export interface ChangeStart {
  /** Paths of steps: `review/critic`. */
  readonly steps: readonly string[];
  readonly inputs?: readonly string[];
}

/**
 * Returns the paths of the steps that a change can reach: along edges, routes and handlers, and from writers of a channel to its readers. A
 * step with a sub-plan stands for everything inside it. The changed steps themselves are not listed. The result is an upper bound: a step
 * whose result stays the same stops the spread.
 */
export function affected(plan: Plan, start: ChangeStart): readonly string[] {
  return affectedIn(
    plan,
    start.steps.map((path) => path.split('/')),
    start.inputs ?? [],
    '',
  );
}

function affectedIn(
  plan: Plan,
  steps: readonly (readonly string[])[],
  inputs: readonly string[],
  prefix: string,
): string[] {
  const ids = new Set(plan.nodes.map((node) => node.id));
  const known = steps.filter(([first = '']) => ids.has(first));
  const own = new Set(known.flatMap(([first = '', ...rest]) => (rest.length === 0 ? [first] : [])));
  const starts = new Set(known.map(([first = '']) => first));
  const reading = readersOfInputs(plan, inputs);
  const reached = spread(plan, new Set([...starts, ...reading]));
  for (const id of reading) reached.add(id);
  const found: string[] = [];
  for (const node of plan.nodes) {
    const path = prefix + node.id;
    if (own.has(node.id)) continue;
    const inside = known
      .filter(([first, ...rest]) => first === node.id && rest.length > 0)
      .map((step) => step.slice(1));
    if (reached.has(node.id)) found.push(path);
    else if (inside.length > 0 && 'plan' in node) found.push(...affectedIn(node.plan, inside, [], `${path}/`));
  }
  return found;
}

/** Ids by id: where a change spreads. */
type Links = ReadonlyMap<string, Iterable<string>>;

/** Returns the ids reachable from these, in any number of steps. */
function spread(plan: Plan, from: ReadonlySet<string>): Set<string> {
  const edges = edgesOf(plan);
  // Earlier nodes read nothing of it, unless an edge leads back.
  const before = reach(from, [reversed(edges)], new Set());
  return reach(from, [edges, readersOf(plan)], before);
}

/** Follows edges, and the other links unless they lead to an excluded node. */
function reach(
  from: ReadonlySet<string>,
  [edges, ...links]: readonly Links[],
  leftOut: ReadonlySet<string>,
): Set<string> {
  const reached = new Set<string>();
  const open = [...from];
  const visit = (id: string): void => {
    if (reached.has(id)) return;
    reached.add(id);
    open.push(id);
  };
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const target of edges?.get(id) ?? []) visit(target);
    for (const link of links) for (const target of link.get(id) ?? []) if (!leftOut.has(target)) visit(target);
  }
  return reached;
}

function edgesOf(plan: Plan): Links {
  const shape = analyzeShape(plan);
  const idOf = (at: number): string => plan.nodes[at]?.id ?? '';
  const next = new Map(plan.nodes.map((node) => [node.id, new Set<string>()]));
  for (const edge of shape.edges) next.get(idOf(edge.from))?.add(idOf(edge.to));
  for (const at of shape.openRoutes) for (const node of plan.nodes) next.get(idOf(at))?.add(node.id);
  return next;
}

function reversed(links: Links): Links {
  const back = new Map<string, string[]>();
  for (const [from, targets] of links) for (const to of targets) addTo(back, to, from);
  return back;
}

function readersOf(plan: Plan): Links {
  const readers = readersByChannel(plan);
  return new Map(
    plan.nodes.map((node) => [node.id, writtenChannels(node).flatMap((channel) => readers.get(channel) ?? [])]),
  );
}

/** Functions may read any input. */
function readersOfInputs(plan: Plan, names: readonly string[]): readonly string[] {
  const declared = new Map(plan.inputs.map(({ name, channel }) => [name, channel]));
  const open = plan.openInputs === true;
  const channels = names.flatMap((name) => declared.get(name) ?? (open ? [name] : []));
  if (channels.length === 0) return [];
  const readers = readersByChannel(plan);
  const code = plan.nodes.filter(runsFunction).map(({ id }) => id);
  return [...code, ...channels.flatMap((channel) => readers.get(channel) ?? [])];
}

function readersByChannel(plan: Plan): ReadonlyMap<string, readonly string[]> {
  const readers = new Map<string, string[]>();
  const labelled = plan.channels.flatMap(({ name, label }) => (label === undefined ? [] : [name]));
  for (const node of plan.nodes) {
    for (const channel of channelsOf(node)) addTo(readers, channel, node.id);
    if (readsOutputs(node)) for (const channel of labelled) addTo(readers, channel, node.id);
  }
  for (const route of plan.routes) {
    // What a route reads decides where it leads, not what its node does.
    const targets = routeTargets(route) ?? [];
    for (const { channel } of routeReferences(route)) for (const id of targets) addTo(readers, channel, id);
  }
  return readers;
}

/** Sub-plans without declared inputs read channels of the same name. */
function channelsOf(node: PlanNode): readonly string[] {
  const said = referencesOf(node).map((reference) => reference.channel);
  const isSilent = (node.kind === 'call' || node.kind === 'loop') && node.inputs === undefined;
  return isSilent ? [...said, ...node.plan.inputs.map((input) => input.channel)] : said;
}
