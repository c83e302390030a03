import { conditionText } from '../lang/condition-text.js';
import { refText } from '../lang/json-path.js';
import type { Condition } from '../lang/values.js';
import { routeTargets } from './graph-shape.js';
import {
  END,
  type Join,
  type LoopNode,
  type NodeKind,
  type OnError,
  type Plan,
  type PlanNode,
  type Route,
} from './plan.js';
import { budgetText } from './budget.js';
import { heardIn } from './heard.js';
import { endorsedText } from './endorsement.js';
import { securityText } from './security.js';
import { supervisedText } from './supervision.js';
import { toolText } from './tool-use.js';

/** A plan as a picture, before it is written in a language: keys are safe everywhere, texts are unchanged. */
export interface Drawing {
  readonly name: string;
  readonly items: readonly DrawnItem[];
  readonly edges: readonly DrawnEdge[];
}

/** A node, or a frame around the items of a sub-plan. */
export interface DrawnItem {
  readonly key: string;
  readonly shape: NodeKind | 'choice' | 'anywhere';
  /** Lines of text. */
  readonly lines: readonly string[];
  /** Whether a run starts here. */
  readonly entry: boolean;
  readonly exit: boolean;
  /** Whether untrusted texts may influence its result. */
  readonly untrusted?: true;
  /** Present for a frame. */
  readonly inner: readonly DrawnItem[] | undefined;
}

/** An edge between keys. */
export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string | undefined;
  /** Whether the edge is only taken sometimes. */
  readonly dashed: boolean;
  /** Whether the edge comes from an untrusted node. */
  readonly untrusted?: true;
}

/** Collects what to draw: every node, frame, edge, choice and handler, sub-plans included. Edges of unknown nodes are left out. */
export function drawingOf(plan: Plan): Drawing {
  const edges: DrawnEdge[] = [];
  const heard = heardIn(plan);
  const isUntrusted = (path: string): boolean => heard.get(path)?.gives.level === 'untrusted';
  return { name: plan.name, items: drawPlan(plan, { prefix: 'n', path: '', edges, isUntrusted }), edges };
}

interface Canvas {
  readonly prefix: string;
  readonly path: string;
  readonly edges: DrawnEdge[];
  readonly isUntrusted: (path: string) => boolean;
}

// Workflows are nested 50 deep at most (see checkPlan), so recursion is safe here.
function drawPlan(plan: Plan, canvas: Canvas): readonly DrawnItem[] {
  const { prefix, path, edges, isUntrusted } = canvas;
  const marked = (id: string): { readonly untrusted?: true } => (isUntrusted(path + id) ? { untrusted: true } : {});
  const keys = new Map<string, string>();
  plan.nodes.forEach((node, at) => {
    if (!keys.has(node.id)) keys.set(node.id, `${prefix}${at}`);
  });
  const exits = new Set(plan.exits);
  const tokens = tokensOf(plan);
  const choosing = new Set(plan.routes.map((route) => route.from));
  const items: DrawnItem[] = plan.nodes.map((node, at) => ({
    key: `${prefix}${at}`,
    shape: node.kind === 'pass' && choosing.has(node.id) ? 'choice' : node.kind,
    lines: linesOf(node, tokens.get(node.id), plan.finally === node.id),
    entry: plan.entry === node.id,
    exit: exits.has(node.id),
    inner:
      'plan' in node
        ? drawPlan(node.plan, { ...canvas, prefix: `${prefix}${at}_`, path: `${path}${node.id}/` })
        : undefined,
    ...marked(node.id),
  }));
  const extra = new Map<string, DrawnItem>();
  const pseudo = (shape: 'end' | 'anywhere', line: string): string => {
    const key = `${prefix}_${shape}`;
    extra.set(key, { key, shape, lines: [line], entry: false, exit: false, inner: undefined });
    return key;
  };
  const keyOf = (id: string): string | undefined => (id === END ? pseudo('end', END) : keys.get(id));
  const add = (from: string, to: string | undefined, label: string | undefined, dashed: boolean): void => {
    const source = keys.get(from);
    if (source !== undefined && to !== undefined) edges.push({ from: source, to, label, dashed, ...marked(from) });
  };
  for (const edge of plan.edges) add(edge.from, keyOf(edge.to), undefined, false);
  for (const route of plan.routes) {
    const ways = waysOf(route);
    if (ways === undefined) add(route.from, pseudo('anywhere', 'any node'), undefined, true);
    for (const way of ways ?? []) add(route.from, keyOf(way.to), way.label, true);
  }
  for (const node of plan.nodes) {
    if (typeof node.onError === 'object') add(node.id, keys.get(node.onError.to), 'on error', true);
    if (typeof node.onMaxVisits === 'object' && 'to' in node.onMaxVisits) {
      add(node.id, keyOf(node.onMaxVisits.to), `after ${node.maxVisits ?? 'all'} visits`, true);
    }
  }
  return [...items, ...extra.values()];
}

interface Way {
  readonly to: string;
  readonly label: string | undefined;
}

/** Returns where a route may lead, with each condition; undefined if it may lead anywhere. */
function waysOf(route: Route): readonly Way[] | undefined {
  const { targets, map, cases, otherwise = [] } = route;
  if (targets === undefined && map === undefined && cases === undefined) return undefined;
  const ways: Way[] = [];
  for (const [answer, to] of Object.entries(map ?? {})) ways.push({ to, label: answer });
  for (const branch of cases ?? []) for (const to of branch.to) ways.push({ to, label: allText(branch.when) });
  for (const to of otherwise) ways.push({ to, label: 'otherwise' });
  const named = new Set(ways.map((way) => way.to));
  for (const to of targets ?? []) if (!named.has(to)) ways.push({ to, label: undefined });
  return ways;
}

function linesOf(node: PlanNode, tokens: Tokens | undefined, isLast: boolean): readonly string[] {
  const title = node.label === undefined || node.label === node.id ? node.id : `${node.label} (${node.id})`;
  const lines = [title];
  if (isLast) lines.push('when all others have ended');
  const what = whatText(node);
  if (what !== undefined) lines.push(what);
  if (node.when !== undefined && node.when.length > 0) lines.push(`when ${allText(node.when)}`);
  const join = tokens === undefined ? undefined : joinText(node.join, tokens);
  if (join !== undefined) lines.push(join);
  if (node.supervise !== undefined) lines.push(supervisedText(node.supervise));
  const budgets = [node.budget, 'plan' in node ? node.plan.budget : undefined];
  for (const budget of budgets) if (budget !== undefined) lines.push(`budget ${budgetText(budget)}`);
  const securities = [node.security, 'plan' in node ? node.plan.security : undefined];
  for (const one of securities) if (one !== undefined) lines.push(`security ${securityText(one)}`);
  if (node.endorse !== undefined) lines.push(endorsedText(node.endorse));
  const failure = errorText(node.onError);
  if (failure !== undefined) lines.push(failure);
  return lines;
}

function whatText(node: PlanNode): string | undefined {
  switch (node.kind) {
    case 'task':
      return node.tool && toolText(node.tool);
    case 'pass':
      return undefined;
    case 'agent':
      return node.agent.name === node.id ? undefined : `agent ${node.agent.name}`;
    case 'call':
      return node.plan.name === node.id ? undefined : `workflow ${node.plan.name}`;
    case 'map':
      return `for each of ${refText(node.over)}, at most ${node.maxItems}`;
    case 'loop':
      return roundsText(node);
    case 'ask':
      return 'asks a person';
    case 'set':
      return `sets ${Object.keys(node.values).slice(0, 4).join(', ')}`;
    case 'end':
      return `ends as ${node.status ?? 'succeeded'}`;
    case 'wait':
      return node.event === undefined ? `waits ${node.ms ?? 0} ms` : `waits for ${node.event}`;
  }
}

/** Returns when a loop ends: `until text has the line "DONE", at most 5 rounds`. */
export function roundsText({ until: conditions, rounds: ref, maxRounds }: LoopNode): string {
  const until = conditions.length === 0 ? '' : `until ${allText(conditions)}, `;
  return ref === undefined
    ? `${until}at most ${maxRounds} rounds`
    : `${until}${refText(ref)} rounds, at most ${maxRounds}`;
}

function allText(conditions: readonly Condition[]): string {
  return conditions.map(conditionText).join(' and ');
}

/** The tokens that can arrive at a node. */
interface Tokens {
  readonly count: number;
  /** Whether a branch may end before the node. */
  readonly mayBeDead: boolean;
}

function tokensOf(plan: Plan): ReadonlyMap<string, Tokens> {
  const uncertain = new Set<string>();
  for (const node of plan.nodes) {
    const mayFail = node.onError === 'continue' || node.onError === 'skipDependents';
    if (mayFail || (node.when !== undefined && node.when.length > 0)) uncertain.add(node.id);
  }
  const tokens = new Map<string, Tokens>();
  const add = (to: string, mayBeDead: boolean): void => {
    const { count = 0, mayBeDead: before = false } = tokens.get(to) ?? {};
    tokens.set(to, { count: count + 1, mayBeDead: before || mayBeDead });
  };
  for (const edge of plan.edges) add(edge.to, uncertain.has(edge.from));
  for (const route of plan.routes) for (const to of routeTargets(route) ?? []) add(to, true);
  return tokens;
}

/** Returns undefined if the join makes no difference. */
function joinText(join: Join | undefined, tokens: Tokens): string | undefined {
  if (join === 'settled') return tokens.mayBeDead ? 'runs after skipped branches too' : undefined;
  if (typeof join === 'object') return `waits for ${join.quorum} branches`;
  return join === 'any' && tokens.count > 1 ? 'waits for the first branch' : undefined;
}

function errorText(onError: OnError | undefined): string | undefined {
  if (onError === 'continue' || onError === 'ignore') return 'may fail';
  return onError === 'skipDependents' ? 'may fail, and then its dependents are skipped' : undefined;
}
