import { addTo } from '../base/collections.js';
import { didYouMean } from '../base/suggest.js';
import { nameOf, type Scope } from './check-scope.js';
import { explainedReads } from './reach.js';
import type { Plan, PlanNode } from './plan.js';
import { conditionReferences, referencesOf, routeReferences, writesUnknown, writtenChannels } from './references.js';

export interface Writers {
  /** Node indexes by channel, in plan order. */
  readonly byChannel: ReadonlyMap<string, readonly number[]>;
  readonly unknown: readonly number[];
  readonly inputs: ReadonlySet<string>;
  /** Whether any value may be given from outside. */
  readonly open: boolean;
}

export function writersOf({ nodes, inputs, openInputs = false }: Plan): Writers {
  const byChannel = new Map<string, number[]>();
  const unknown: number[] = [];
  nodes.forEach((node, at) => {
    if (writesUnknown(node)) unknown.push(at);
    for (const name of writtenChannels(node)) addTo(byChannel, name, at);
  });
  return { byChannel, unknown, inputs: new Set(inputs.map((input) => input.channel)), open: openInputs };
}

/** A read that no direct predecessor accounts for. */
interface Pending {
  readonly channel: string;
  readonly reader: number;
  readonly path: string;
  readonly inRoute: boolean;
}

/**
 * Checks references in templates, conditions, lists and inputs: `unknown-reference` for a channel that is neither an input nor written by
 * any node, `not-upstream` for a channel whose writers can't run before the reader.
 */
export function checkReferences(scope: Scope, writers: Writers): void {
  if (writers.open) return;
  const pending: Pending[] = [];
  const before = new Predecessors(scope, writers);
  const check = (channel: string, reader: number, path: string, inRoute: boolean): void => {
    if (writers.inputs.has(channel)) return;
    const known = writers.byChannel.get(channel);
    if (known === undefined && writers.unknown.length === 0) {
      reportUnknown(scope, writers, { channel, reader, path, inRoute });
      return;
    }
    if (scope.shape.openRoutes.length > 0) return;
    const candidates = known ?? [];
    if (inRoute && candidates.includes(reader)) return;
    if (before.explains(reader, candidates)) return;
    pending.push({ channel, reader, path, inRoute });
  };
  scope.plan.nodes.forEach((node, at) => {
    // The last node reads whatever exists when the others have ended.
    if (node.id === scope.plan.finally) return;
    for (const { channel, path } of referencesOf(node))
      if (scope.channels.get(channel)?.reducer !== 'extend' || !mayBeEmpty(node, path)) check(channel, at, path, false);
  });
  scope.plan.routes.forEach((route, at) => {
    const reader = scope.shape.index.get(route.from);
    if (reader === undefined) return;
    for (const { channel, path } of routeReferences(route)) check(channel, reader, `routes[${at}].${path}`, true);
  });
  if (pending.length > 0) findUnordered(scope, writers, pending);
}

/** A conversation may begin here if something is said; so may one inside a sub-plan. */
function mayBeEmpty(node: PlanNode, path: string): boolean {
  if (node.kind === 'agent') return path === 'conversation.channel' && node.prompt.length > 0;
  return path.startsWith('inputs.');
}

/** The nodes directly before a node, which most reads refer to. */
class Predecessors {
  private readonly unknown: ReadonlySet<number>;
  private reader = -1;
  private nodes: ReadonlySet<number> = new Set();
  private anything = false;

  constructor(
    private readonly scope: Scope,
    writers: Writers,
  ) {
    this.unknown = new Set(writers.unknown);
  }

  explains(reader: number, candidates: readonly number[]): boolean {
    if (reader !== this.reader) {
      const { inEdges, edges } = this.scope.shape;
      this.reader = reader;
      this.nodes = new Set((inEdges[reader] ?? []).map((edge) => edges[edge]?.from ?? -1));
      this.anything = [...this.nodes].some((node) => this.unknown.has(node));
    }
    return this.anything || candidates.some((node) => this.nodes.has(node));
  }
}

function findUnordered(scope: Scope, writers: Writers, pending: readonly Pending[]): void {
  const writersFor = ({ channel }: Pending) => [...(writers.byChannel.get(channel) ?? []), ...writers.unknown];
  const explained = explainedReads(scope.shape, pending, writersFor, ({ reader }, leadsTo) => leadsTo(reader));
  for (const read of pending) {
    const isOwn = read.inRoute && writers.unknown.includes(read.reader);
    if (!isOwn && !explained.has(read)) reportNotUpstream(scope, writers, read);
  }
}

/** The conditions that end a loop read the final state of a round. */
export function checkLoopEnds(scope: Scope, inner: (node: number) => Writers | undefined): void {
  scope.plan.nodes.forEach((node, at) => {
    if (node.kind !== 'loop') return;
    const writers = inner(at);
    if (writers === undefined || writers.open || writers.unknown.length > 0) return;
    for (const { channel, path } of conditionReferences(node.until, 'until')) {
      const isKnown = writers.inputs.has(channel) || writers.byChannel.has(channel);
      if (!isKnown) reportUnknown(scope, writers, { channel, reader: at, path, inRoute: false });
    }
  });
}

function reportUnknown(scope: Scope, writers: Writers, read: Pending): void {
  const { channel, reader, path, inRoute } = read;
  const known = [...writers.inputs, ...writers.byChannel.keys()];
  const hint =
    didYouMean(channel, known) ??
    (known.length === 0 ? 'nothing is written' : `known are: ${known.slice(0, 8).join(', ')}`);
  const name = inRoute ? `the route after ${nameOf(scope, reader)}` : nameOf(scope, reader);
  const message = `${name} reads ${JSON.stringify(channel)}, which is not an input and which no node writes`;
  scope.findings.add('unknown-reference', message, { ...(inRoute ? {} : { node: reader }), path, hint });
}

function reportNotUpstream(scope: Scope, writers: Writers, read: Pending): void {
  const { channel, reader, path, inRoute } = read;
  const known = writers.byChannel.get(channel) ?? [];
  const names = known.slice(0, 3).map((writer) => nameOf(scope, writer));
  const who = names.length === 0 ? 'no node that runs before it' : names.join(', ');
  const isOwn = known.length === 1 && known[0] === reader;
  const message = isOwn
    ? `${nameOf(scope, reader)} reads its own result ${JSON.stringify(channel)} before it has run`
    : `${nameOf(scope, reader)} reads ${JSON.stringify(channel)}, which is written by ${who}: that can't have run before it`;
  const hint = isOwn
    ? 'read something that is written before'
    : `let ${nameOf(scope, reader)} depend on ${names[0] ?? 'its writer'}`;
  scope.findings.add('not-upstream', message, { ...(inRoute ? {} : { node: reader }), path, hint });
}
