import type { Bindings, ChannelSpec, Edge, InputSpec, Plan, PlanNode, Route } from '../../../src/plan/plan.js';
import { bodyOf, digestOf, numberOf, type WriteKind } from './random-bodies.js';
import type { RawLast, RawNode, RawPlan } from './random-plan.js';

/** A random plan with everything that it needs to run. Bodies and choosers are pure functions of the state. */
export interface Scenario {
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly inputs: Record<string, unknown>;
  /** What the steps at the ends of plans were told so far. */
  readonly closed: string[];
}

const SHARED: readonly { readonly spec: ChannelSpec; readonly kind: WriteKind }[] = [
  { spec: { name: 'log', reducer: 'append' }, kind: 'entry' },
  { spec: { name: 'lines', reducer: 'extend' }, kind: 'entries' },
  { spec: { name: 'sum', reducer: 'add' }, kind: 'number' },
  { spec: { name: 'dict', reducer: 'mergeDict' }, kind: 'dict' },
  { spec: { name: 'newest', reducer: 'last' }, kind: 'digest' },
];

/** What is being built for one plan, and for the plans inside it. */
interface Build {
  readonly raw: readonly RawNode[];
  readonly nodes: PlanNode[];
  readonly edges: Edge[];
  readonly routes: Route[];
  readonly channels: ChannelSpec[];
  readonly bindings: Record<string, unknown>;
  readonly prefix: string;
  readonly sees: Sees;
  readonly closed: string[];
}

/** What the plans of a scenario share. */
type Shared = Pick<Build, 'prefix' | 'bindings' | 'sees' | 'closed'>;

/** Whether a function of a plan, by its key, reads a channel. */
export type Sees = (key: string, channel: string) => boolean;

/** Names a raw plan and gives it bodies. */
export function scenarioOf(raw: RawPlan, sees: Sees = () => true): Scenario {
  const bindings: Record<string, unknown> = {};
  const inputs = [
    { channel: 'seed', name: 'seed', required: true },
    { channel: 'items', name: 'items', required: false },
  ];
  const closed: string[] = [];
  const top = { sub: raw.nodes, last: raw.last };
  const plan = planOf('top', top, inputs, { prefix: '', bindings, sees, closed });
  const items = Array.from({ length: raw.items }, (_, index) => `item ${index}`);
  const whole = raw.firstExitWins ? { ...plan, firstExitWins: true } : plan;
  return { plan: whole, bindings, inputs: { seed: raw.seed, items }, closed };
}

function planOf(
  name: string,
  { sub: raw, last }: Pick<RawNode, 'sub' | 'last'>,
  inputs: InputSpec[],
  { prefix, bindings, sees, closed }: Shared,
): Plan {
  const channels: ChannelSpec[] = inputs.map((input) => ({ name: input.channel }));
  channels.push(...SHARED.map((one) => one.spec), { name: 'plain' });
  raw.forEach((_, index) => channels.push({ name: own(index) }, { name: count(index), reducer: 'add' }));
  raw.forEach((node, index) => {
    if (node.tells) channels.push({ name: ending(index) });
  });
  const build: Build = { raw, nodes: [], edges: [], routes: [], channels, bindings, prefix, sees, closed };
  raw.forEach((_, index) => addNode(build, index));
  raw.forEach((_, index) => addOutEdges(build, index));
  raw.forEach((node, index) => {
    if (needsHandler(node)) addHandler(build, index);
  });
  if (last !== 'none') addLast(build, last);
  const exits = raw.flatMap((node, index) => (node.exit ? [id(index)] : []));
  // A route that may go anywhere tells nothing about who starts (E6): then the first node is the entry.
  const isOpen = ({ targets, mentions }: Route): boolean => targets === undefined && mentions === undefined;
  const entry = build.routes.some(isOpen) ? { entry: id(0) } : {};
  const { nodes, edges, routes } = build;
  const end = last === 'none' ? {} : { finally: LAST };
  return { format: 1, name, inputs, channels, nodes, edges, routes, exits, limits: { maxSteps: 40 }, ...entry, ...end };
}

const id = (index: number): string => `n${index}`;
const own = (index: number): string => `own${index}`;
const count = (index: number): string => `count${index}`;
const ending = (index: number): string => `ending${index}`;
const handler = (index: number): string => `h${index}`;
const needsHandler = (node: RawNode): boolean =>
  (node.failsOneIn > 0 && node.onError === 'handler') || node.maxVisits === 'to';

function names(build: Build, key: string): string[] {
  const all = build.channels.map((channel) => channel.name);
  return all.filter((name) => build.sees(`${build.prefix}${key}`, name));
}

function addNode(build: Build, index: number): void {
  const raw = itemAt(build.raw, index);
  const reads = names(build, id(index));
  const writes: Record<string, WriteKind> = { [own(index)]: 'digest', [count(index)]: 'one' };
  SHARED.forEach((one, bit) => {
    if ((raw.shares >> bit) % 2 === 1) writes[one.spec.name] = one.kind;
  });
  if (raw.writesPlain) writes.plain = 'digest';
  const before = index === 0 ? 'seed' : own(index - 1);
  if (raw.when === 'code') {
    build.bindings[`${build.prefix}when:${id(index)}`] = (state: Record<string, unknown>) =>
      numberOf(digestOf(state, reads, `when ${index}`)) % 3 > 0;
  }
  const common = {
    id: id(index),
    join: raw.join,
    ...(raw.tells ? { ending: ending(index) } : {}),
    ...policies(raw, index),
    ...(raw.when === 'none' ? {} : { when: [whenOf(raw.when, before)] }),
  };
  if (raw.kind === 'end') {
    const reason = ['seen: ', { channel: before }];
    build.nodes.push({ kind: 'end', ...common, status: raw.endsAs, reason, out: raw.out });
  } else if (raw.kind === 'pass') build.nodes.push({ kind: 'pass', ...common });
  else if (raw.kind === 'task' || raw.sub.length === 0) {
    const failsOneIn = raw.maxVisits === 'fail' ? 0 : raw.failsOneIn;
    build.bindings[`${build.prefix}${id(index)}`] = bodyOf({ id: id(index), reads, writes, failsOneIn });
    build.nodes.push({ kind: 'task', ...common });
  } else build.nodes.push(subNode(build, raw, index, common));
}

/** What would say what wins is left out: a condition and a cap of visits, or a cap that fails and what failures do. */
function policies(raw: RawNode, index: number): Pick<PlanNode, 'onError' | 'maxVisits' | 'onMaxVisits'> {
  const onError = raw.onError === 'handler' ? { to: handler(index) } : raw.onError;
  const onMaxVisits = raw.maxVisits === 'to' ? { to: handler(index) } : raw.maxVisits;
  return {
    ...(raw.failsOneIn > 0 && raw.maxVisits !== 'fail' ? { onError } : {}),
    ...(onMaxVisits === 'none' || raw.when !== 'none' ? {} : { maxVisits: 2, onMaxVisits }),
  };
}

function whenOf(when: 'code' | 'contains' | 'never', channel: string): NonNullable<PlanNode['when']>[number] {
  if (when === 'code') return { op: 'code' };
  if (when === 'contains') return { op: 'not_contains', value: { channel }, operand: ['7'] };
  return { op: 'equals', value: { channel }, operand: ['never'] };
}

function subNode(build: Build, raw: RawNode, index: number, common: { readonly id: string }): PlanNode {
  const prefix = `${build.prefix}${id(index)}/`;
  const inputs = ['in', 'items'].map((channel) => ({ channel, name: channel, required: false }));
  const plan = planOf(id(index), raw, inputs, { ...build, prefix });
  const require = raw.require === 'none' ? {} : { require: raw.require };
  const from = index === 0 ? { channel: 'seed' } : { channel: own(index - 1) };
  const shared = { ...common, plan, inputs: { in: from, items: { channel: 'items' } } };
  switch (raw.kind) {
    case 'loop':
      build.bindings[`${build.prefix}until:${id(index)}`] = (state: Record<string, unknown>, round: number) =>
        round >= raw.backTimes || numberOf(digestOf(state, ['log', 'in', 'own0'], 'until')) % 4 === 0;
      return {
        ...shared,
        kind: 'loop',
        outputs: { [own(index)]: 'log', [count(index)]: 'count0' },
        until: [{ op: 'code' }],
        carry: ['own0', 'sum'],
        maxRounds: 2,
        onMaxRounds: 'continue',
      };
    case 'map':
      return {
        ...common,
        kind: 'map',
        plan,
        over: { channel: 'items' },
        item: 'in',
        inputs: { items: { channel: 'items' } },
        result: 'log',
        output: own(index),
        maxItems: 4,
        ...require,
        // Of a group, what failed is left out, or null by its index.
        ...(raw.require === 'none' || raw.shares % 2 === 0 ? { onItemError: 'continue' } : {}),
      };
    case 'task':
    case 'pass':
    case 'end':
    case 'call':
      return { ...shared, ...require, kind: 'call', outputs: { [own(index)]: 'log', [count(index)]: 'count0' } };
  }
}

function addOutEdges(build: Build, index: number): void {
  const raw = itemAt(build.raw, index);
  const later = build.raw.flatMap((node, to) => (to > index && (node.after >> index) % 2 === 1 ? [to] : []));
  const routed = raw.route === 'none' ? [] : later.filter((_, position) => (raw.viaRoute >> position) % 2 === 1);
  for (const to of later) if (!routed.includes(to)) build.edges.push({ from: id(index), to: id(to) });
  if (raw.route === 'none') return;
  const back = backOf(build.raw, index);
  const targets = [...routed, ...back].map(id);
  if (targets.length === 0) return;
  build.routes.push(routeOf(build, index, routed.map(id), back.map(id)));
}

/** One cycle in a plan is enough: several multiply each other's rounds. */
function backOf(raw: readonly RawNode[], index: number): readonly number[] {
  const closes = (node: RawNode, at: number): boolean =>
    node.back > 0 && at - node.back >= 0 && (node.kind === 'task' || node.kind === 'pass') && node.route !== 'none';
  const first = raw.findIndex(closes);
  return first === index ? [index - itemAt(raw, index).back] : [];
}

/** Back while it has run at most `backTimes` times in its own history, then by digest to one or two of the others. */
function routeOf(build: Build, index: number, forward: readonly string[], back: readonly string[]): Route {
  const raw = itemAt(build.raw, index);
  const from = id(index);
  const targets = [...forward, ...back, 'END'];
  // A node that does nothing counts nothing either: that to which it goes back does.
  const counter = raw.kind === 'pass' ? index - raw.back : index;
  if (raw.route === 'cases') {
    const cases = [
      ...back.map((to) => ({
        when: [{ op: 'equals' as const, value: { channel: count(counter) }, operand: ['1'] }],
        to: [to],
      })),
      ...forward.map((to, position) => ({
        when: [
          { op: 'contains' as const, value: { channel: own(counter) }, operand: [(position * 5 + 3).toString(36)] },
        ],
        to: [to],
      })),
    ];
    return { from, cases, otherwise: forward.slice(0, 1), targets };
  }
  const reads = names(build, `route:${from}`);
  build.bindings[`${build.prefix}route:${from}`] = (state: Record<string, unknown>): readonly string[] | string => {
    if (back.length > 0 && Number(state[count(counter)]) <= raw.backTimes) return back;
    const number = numberOf(digestOf(state, reads, `route ${index}`));
    const first = forward[number % (forward.length + 1)] ?? 'END';
    return number % 7 === 0 ? forward : first;
  };
  if (raw.route === 'codedNamed') return { from, choose: 'code', mentions: [...forward, ...back] };
  return raw.route === 'codedAny' ? { from, choose: 'code' } : { from, choose: 'code', targets };
}

function addHandler(build: Build, index: number): void {
  const writes: Record<string, WriteKind> = { log: 'entry', dict: 'dict' };
  const spec = { id: handler(index), reads: names(build, handler(index)), writes, failsOneIn: 0 };
  build.bindings[`${build.prefix}${handler(index)}`] = bodyOf(spec);
  build.nodes.push({ kind: 'task', id: handler(index) });
}

const LAST = 'finally';

/** What runs at the end notes how the plan ended, and what it sees of it where that is a rule (S4). */
function addLast(build: Build, last: Exclude<RawLast, 'none'>): void {
  const reads = names(build, LAST);
  build.channels.push({ name: 'run.outcome' }, { name: 'run.error' });
  build.bindings[`${build.prefix}${LAST}`] = (state: Readonly<Record<string, unknown>>): object => {
    const outcome = String(state['run.outcome']);
    const { code = '' } = (state['run.error'] ?? {}) as { readonly code?: string };
    const isKnown = outcome === 'succeeded' || outcome === 'degraded';
    build.closed.push(`${build.prefix}${LAST} ${outcome} ${code} ${isKnown ? digestOf(state, reads, LAST) : ''}`);
    if (last !== 'runs') throw new Error(`the end of ${build.prefix} failed`);
    return {};
  };
  build.nodes.push({ kind: 'task', id: LAST, ...(last === 'failsAllowed' ? { onError: 'ignore' } : {}) });
}

function itemAt<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index}`);
  return item;
}
