import { didYouMean } from '../../base/suggest.js';
import type { Problem } from '../../base/problem.js';
import { kindText } from '../../lang/value-text.js';
import { analyzeShape } from '../../plan/graph-shape.js';
import { END, type Plan } from '../../plan/plan.js';
import { explainedReads } from '../../plan/reach.js';
import { nodesById } from '../../plan/nodes.js';
import { mayHaveKey, writtenChannels } from '../../plan/references.js';
import { chooses, handlersOf } from './chosen.js';
import type { DraftNode, DraftRoute, GraphDraft } from './draft.js';
import type { Inference, Reads } from './infer.js';
import { isNodeSpec } from './nodes/planned.js';
import { reducerName } from './reducers.js';

interface Checked {
  readonly draft: GraphDraft;
  readonly inference: Inference;
  readonly plan: Plan;
}

type Add = (code: string, message: string, hint?: string) => void;

/**
 * Checks a graph beyond its plan, in the order nodes and routes were added: `no-entry`, `bad-reducer`, `overwritten-input`,
 * `unreadable-parameters`, `mixed-routing`, `bad-map`, `not-upstream`, `entry-waits`; with a declared state `undeclared-key`.
 */
export function checkDraft(checked: Checked): readonly Problem[] {
  const { draft, inference } = checked;
  const problems: Problem[] = [];
  const add: Add = (code, message, hint) => {
    problems.push({ code, severity: 'error', message, ...(hint === undefined ? {} : { hint }) });
  };
  checkEntry(checked, add);
  checkSettings(checked, add);
  checkInputs(draft, inference, add);
  const isSource = new Set([...draft.edges.values()].map((edge) => edge.from));
  for (const node of draft.nodes.values()) {
    checkReads(`the function of ${quoted(node.name)}`, inference.reads.get(node.name), add);
    checkRouting(draft, node, isSource.has(node.name), add);
    if (draft.settings.state !== undefined) checkKeys(checked, node, add);
  }
  for (const route of draft.routes.values()) {
    checkReads(`the router after ${quoted(route.from)}`, inference.routeReads.get(route.from), add);
    checkMap(route, add);
  }
  checkUpstream(checked, add);
  return problems;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

/** Checks the entry. If all nodes name what they read, none is needed: those that wait for nothing start (E6). */
function checkEntry({ draft, plan }: Checked, add: Add): void {
  const { entry } = draft;
  if (entry === undefined) {
    const others = [...draft.nodes.values()].filter(({ name }) => name !== plan.finally);
    if (others.every(({ layer }) => layer === 'node') && others.length > 0) return;
    const waiting = new Set(plan.edges.map((edge) => edge.to));
    const first = (others.find(({ name }) => !waiting.has(name)) ?? others[0])?.name ?? 'NAME';
    add('no-entry', 'no entry node set', `name the node with which a run starts: setEntry(${quoted(first)})`);
    return;
  }
  if (plan.edges.every(({ to }) => to !== entry)) return;
  const { edges, index } = analyzeShape(plan);
  const before = edges
    .filter(({ to, kind, closesCycle }) => to === index.get(entry) && kind === 'static' && !closesCycle)
    .map(({ from }) => plan.nodes[from]?.id ?? '');
  if (before.length === 0) return;
  const hint = `start with ${quoted(before[0] ?? '')}, or with what it waits for`;
  add('entry-waits', `the entry ${quoted(entry)} waits for ${before.map(quoted).join(', ')}`, hint);
}

function checkSettings({ draft, plan }: Checked, add: Add): void {
  const { reducers = {}, state, inputs = [], answerKey, output } = draft.settings;
  if (answerKey !== undefined && output !== undefined) {
    const keys = Array.isArray(output) ? (output as readonly string[]) : Object.keys(output);
    if (!keys.includes(answerKey)) {
      const hint = 'name it in the output too, or leave answerKey out';
      add('private-channel', `the answer is ${quoted(answerKey)}, which the output does not have`, hint);
    }
  }
  for (const [key, reducer] of Object.entries(reducers)) {
    if (reducer !== undefined && reducerName(reducer) === undefined) {
      add('bad-reducer', `${quoted(key)}: not a valid reducer`, 'give a function, or one of `reducers`');
    }
  }
  if (state === undefined) {
    checkAnswer(answerKey, plan, add);
    return;
  }
  const check = (key: string, what: string): void => {
    if (!Object.hasOwn(state, key))
      add('undeclared-key', `${what} ${quoted(key)}, which is not a key of the state`, keyHint(key, state));
  };
  for (const key of Object.keys(reducers)) check(key, 'a reducer is given for');
  for (const input of inputs) check(typeof input === 'string' ? input : input.name, 'an input is');
  if (answerKey !== undefined) check(answerKey, 'the answer is');
}

/** Without a declared state, the keys are those that nodes write and read. A node that returns updates may write any. */
function checkAnswer(key: string | undefined, plan: Plan, add: Add): void {
  if (key === undefined) return;
  if (mayHaveKey(plan, key)) return;
  const hint = didYouMean(key, plan.nodes.flatMap(writtenChannels)) ?? 'name what a node returns';
  add('unknown-channel', `the answer is ${quoted(key)}, which nothing writes`, hint);
}

/** Reports inputs named like a node, whose value would replace the input. Only a node that reads the input may have its name. */
function checkInputs({ settings, nodes }: GraphDraft, inference: Inference, add: Add): void {
  for (const input of settings.inputs ?? []) {
    const name = typeof input === 'string' ? input : input.name;
    const node = nodes.get(name);
    if (node?.layer !== 'node' || (node.options.output ?? name) !== name) continue;
    if (settings.reducers?.[name] !== undefined) continue;
    if (inference.reads.get(name)?.names.some((read) => read.name === name) === true) continue;
    const message = `the input ${quoted(name)} has the name of a node that does not read it and whose value would replace it`;
    add('overwritten-input', message, 'rename one of the two, or let the node read it');
  }
}

function keyHint(key: string, state: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(state);
  return didYouMean(key, keys) ?? `keys are: ${keys.slice(0, 8).join(', ')}${keys.length > 8 ? ' ...' : ''}`;
}

function checkReads(what: string, reads: Reads | undefined, add: Add): void {
  if (reads?.refused === undefined) return;
  const hint = "write it as ({ name, other = 'x' }) => ..., or say what it reads: { inputs: ['name'] }";
  add('unreadable-parameters', `${what} does not name what it reads: ${reads.refused}`, hint);
}

function checkRouting(draft: GraphDraft, node: DraftNode, hasEdges: boolean, add: Add): void {
  const ways = [
    ...(hasEdges ? ['static'] : []),
    ...(draft.routes.has(node.name) ? ['conditional'] : []),
    ...(node.options.goto === undefined ? [] : ['goto']),
  ];
  if (ways.length < 2) return;
  const message = `node ${quoted(node.name)} has both ${ways.join(' and ')} outgoing edges; pick one routing style`;
  add('mixed-routing', message, 'let the router answer with a list of all nodes that come next');
}

/** Checks that everything a node reads or writes is a key of the declared state. */
function checkKeys({ draft, inference, plan }: Checked, node: DraftNode, add: Add): void {
  const { state = {} } = draft.settings;
  const { output, writes = [] } = node.options;
  const made = isNodeSpec(node.body) ? nodesById(plan).get(node.name) : undefined;
  const owned = made?.writes ?? (node.layer === 'node' || made !== undefined ? [output ?? node.name] : []);
  for (const key of [...owned, ...writes]) {
    if (!Object.hasOwn(state, key)) {
      add(
        'undeclared-key',
        `${quoted(node.name)} writes ${quoted(key)}, which is not a key of the state`,
        keyHint(key, state),
      );
    }
  }
  for (const { name, optional } of inference.reads.get(node.name)?.names ?? []) {
    if (Object.hasOwn(state, name) || draft.nodes.has(name)) continue;
    // An inner workflow's optional input may be absent.
    if (optional && isNodeSpec(node.body)) continue;
    add(
      'undeclared-key',
      `${quoted(node.name)} reads ${quoted(name)}, which is not a key of the state`,
      keyHint(name, state),
    );
  }
}

function checkMap({ from, map = {} }: DraftRoute, add: Add): void {
  for (const [key, target] of Object.entries(map) as [string, unknown][]) {
    if (typeof target === 'string') continue;
    const message = `the map of the route after ${quoted(from)} gives ${quoted(key)} ${kindText(target)}`;
    add('bad-map', message, `a target must be a node name or ${END}`);
  }
}

/** A read of a node's result that no edge explains. */
interface Pending {
  readonly from: string;
  readonly reader: string;
  readonly inRoute: boolean;
}

/**
 * Checks that a node that reads a result without waiting for it lies downstream of its source: otherwise it would run without the result.
 * If the source chooses what runs next, the reader must lie downstream of one of its targets. A router reads what ran before it.
 */
function checkUpstream({ draft, inference, plan }: Checked, add: Add): void {
  const pending: Pending[] = [];
  for (const { from, to, optional } of inference.dataOnly)
    if (!optional) pending.push({ from, reader: to, inRoute: false });
  for (const route of draft.routes.values()) {
    for (const { name, optional } of inference.routeReads.get(route.from)?.names ?? []) {
      if (optional || name === route.from || !draft.nodes.has(name)) continue;
      pending.push({ from: name, reader: route.from, inRoute: true });
    }
  }
  if (pending.length === 0) return;
  const shape = analyzeShape(plan);
  const indexOf = (name: string): number => shape.index.get(name) ?? -1;
  const explained = explainedReads(
    shape,
    pending,
    ({ from }) => [indexOf(from)],
    // A route without declared targets may lead anywhere, including the reader.
    ({ reader }, leadsTo, source) =>
      leadsTo(indexOf(reader)) || shape.openRoutes.some((open) => open === source || leadsTo(open)),
  );
  for (const read of pending) {
    const { from, reader, inRoute } = read;
    if (explained.has(read) || (inRoute && shape.openRoutes.length > 0)) continue;
    const who = inRoute ? `the router after ${quoted(reader)}` : quoted(reader);
    const message = `${who} reads ${quoted(from)}, and no path leads from ${quoted(from)} to it`;
    const hint = `${wayTo(draft, read)}, or give the parameter a default`;
    add('not-upstream', message, hint);
  }
}

/** Suggests how to make a source run before its reader. */
function wayTo(draft: GraphDraft, { from, reader, inRoute }: Pending): string {
  if (inRoute) return `let ${quoted(reader)} run after ${quoted(from)}`;
  const source = draft.nodes.get(from);
  if (source !== undefined && chooses(draft, source)) return `make it a target of the route after ${quoted(from)}`;
  const failing = handlersOf(draft).find(({ to }) => to === reader)?.from;
  return failing === undefined
    ? `add an edge from ${quoted(from)} to the node whose route leads to ${quoted(reader)}`
    : `add an edge from ${quoted(from)} to ${quoted(failing)}, for which ${quoted(reader)} takes over`;
}
