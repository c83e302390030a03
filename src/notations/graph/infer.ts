import type { Edge } from '../../plan/plan.js';
import { RUN_CHANNELS } from '../../plan/endings.js';
import { referencesOf } from '../../plan/references.js';
import { chooses, splitChosen, type ReadEdge } from './chosen.js';
import type { DraftNode, DraftRoute, GraphDraft } from './draft.js';
import { isNodeSpec, type BuiltNode } from './nodes/planned.js';
import { readParameters, type Parameter } from './parameters.js';

export interface Reads {
  readonly names: readonly Parameter[];
  /** Why the names can't be seen. If set, `names` is empty. */
  readonly refused?: string;
}

export interface Inference {
  readonly reads: ReadonlyMap<string, Reads>;
  readonly routeReads: ReadonlyMap<string, Reads>;
  readonly edges: readonly Edge[];
  /** Reads that carry only data: of a node that chooses what runs next, or by a node that a route may choose. */
  readonly dataOnly: readonly ReadEdge[];
  /** Names read that are not nodes, in the order found, and whether every reader has a default. */
  readonly inputs: ReadonlyMap<string, FoundInput>;
}

/** A name that must be supplied as an input. */
export interface FoundInput {
  readonly optional: boolean;
  /** The nodes that read it. */
  readonly readers: readonly string[];
}

const NOTHING: Reads = { names: [] };

/** Infers the reads of all nodes and routers. It calls no function. */
export function infer(draft: GraphDraft, built: ReadonlyMap<string, BuiltNode>): Inference {
  const reads = new Map<string, Reads>();
  const found: ReadEdge[] = [];
  const dataOnly: ReadEdge[] = [];
  const inputs = new Map<string, { optional: boolean; readers: string[] }>();
  const need = ({ name, optional }: Parameter, reader: string): void => {
    const before = inputs.get(name);
    if (before === undefined) inputs.set(name, { optional, readers: [reader] });
    else {
      before.optional &&= optional;
      before.readers.push(reader);
    }
  };
  // A key for a node's ending belongs to that node, like the key of its name.
  const endings = new Map([...draft.nodes.values()].map((node) => [node.options.ending, node]));
  for (const node of draft.nodes.values()) {
    // The node that runs at the end waits for nothing, and receives how the others ended.
    const isLast = node.name === draft.settings.finally;
    const all = readsOf(node, built.get(node.name));
    const own = isLast ? { ...all, names: all.names.filter(({ name }) => !RUN_CHANNELS.includes(name)) } : all;
    reads.set(node.name, own);
    for (const read of own.names) {
      const result = draft.nodes.get(read.name);
      const source = read.name === node.name ? undefined : (result ?? endings.get(read.name));
      if (source === undefined) need(read, node.name);
      else if (node.layer === 'update' || isLast) continue;
      else {
        const isEnding = result === undefined;
        const edge = { from: source.name, to: node.name, optional: read.optional, ...(isEnding && { isEnding }) };
        if (chooses(draft, source)) dataOnly.push(edge);
        else if (!draft.edges.has(`${source.name}\n${node.name}`)) found.push(edge);
      }
    }
  }
  const { control, data } = splitChosen(draft, found);
  const edges = control.map(({ from, to }): Edge => ({ from, to }));
  const routeReads = new Map<string, Reads>();
  for (const route of draft.routes.values()) {
    const own = readsOfRoute(route);
    routeReads.set(route.from, own);
    for (const read of own.names) if (!draft.nodes.has(read.name) && !endings.has(read.name)) need(read, route.from);
  }
  return { reads, routeReads, edges, dataOnly: [...dataOnly, ...data], inputs };
}

function readsOf(node: DraftNode, built: BuiltNode | undefined): Reads {
  const { inputs } = node.options;
  if (built !== undefined && isNodeSpec(node.body)) return readsOfBuilt(built);
  if (node.layer === 'update') return NOTHING;
  const own = inputs === undefined ? named(node.body) : declared(inputs);
  const promised = built === undefined ? [] : readsOfBuilt(built).names.filter(({ name }) => !has(own, name));
  return promised.length === 0 ? own : { ...own, names: [...own.names, ...promised] };
}

function has({ names }: Reads, name: string): boolean {
  return names.some((one) => one.name === name);
}

function readsOfRoute(route: DraftRoute): Reads {
  if (route.inputs !== undefined) return declared(route.inputs);
  return route.named ? named(route.router) : NOTHING;
}

function readsOfBuilt({ node, reads = [], mayRead = [] }: BuiltNode): Reads {
  const names = new Map<string, Parameter>();
  for (const { channel } of referencesOf(node)) names.set(channel, { name: channel, optional: false });
  for (const name of mayRead) names.set(name, { name, optional: true });
  for (const name of reads) names.set(name, { name, optional: false });
  return { names: [...names.values()] };
}

function declared(names: readonly string[]): Reads {
  return { names: [...new Set(names)].map((name) => ({ name, optional: false })) };
}

function named(fn: unknown): Reads {
  const reading = readParameters(fn);
  if ('refused' in reading) return { names: [], refused: reading.refused };
  return { names: [...new Map(reading.names.map((each) => [each.name, each])).values()] };
}

/**
 * Returns the keys that a node writes and that nothing can read before it has run: an input with such a key would be lost. A node that may
 * end without a value keeps the given one, and a function that gets the whole state may read any key.
 */
export function computedKeys(draft: GraphDraft, { reads, routeReads, dataOnly }: Inference): readonly string[] {
  const nodes = [...draft.nodes.values()];
  if (nodes.some(takesAll) || [...draft.routes.values()].some((route) => !route.named && route.inputs === undefined))
    return [];
  const early = new Set(dataOnly.map(({ from }) => from));
  for (const [from, { names }] of routeReads) for (const { name } of names) if (name !== from) early.add(name);
  return nodes.flatMap(({ name, options }) => {
    const key = options.output ?? name;
    const readsItself = reads.get(name)?.names.some((read) => read.name === key) === true;
    const keeps = options.onError !== undefined || draft.settings.reducers?.[key] !== undefined;
    return key !== name || keeps || readsItself || early.has(name) ? [] : [key];
  });
}

/** Whether functions of the node get the whole state: those of `addNode`, and conditions. */
function takesAll({ layer, options }: DraftNode): boolean {
  return layer === 'update' || options.when !== undefined;
}
