import { addTo } from '../base/collections.js';
import { canonicalJson } from '../base/hash.js';
import { toolKey } from './agent-spec.js';
import { agentFields } from './agent-fields.js';
import { DECLARED } from './declarations.js';
import { bareNode, nodeField, decidingFields } from './fields.js';
import type { InputSpec, Plan, PlanNode, Route } from './plan.js';
import type { ChangeEffect } from './rows.js';
import { supervisorKey } from './supervision.js';

/** A step that differs between two plans. */
export interface StepChange {
  /** Ids from the outermost node inwards: `review/critic`. */
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** The changed parts, in words: `prompt`, `model`, `when`. Empty for an added or removed step. */
  readonly parts: readonly string[];
  readonly effect: ChangeEffect;
  /** Of an added step: path of the removed step that did exactly the same. */
  readonly was?: string;
  /** Of a removed step: it continues under another name, see `was` of that step. */
  readonly stays?: true;
}

/** The differences between two plans. */
export interface PlanDiff {
  /** In the order of the new plan, an outer step before those inside it; then the removed steps. */
  readonly steps: readonly StepChange[];
  /** Names of inputs that were added, removed or changed. */
  readonly inputs: readonly string[];
  /** Other changed parts of the plan, in words: `limits`, `channel log`. */
  readonly plan: readonly string[];
}

/** Digests of functions, by their keys in the bindings. */
export type CodeDigests = Readonly<Record<string, string>>;

/** Compares two plans, with the digests of their functions. Names, descriptions and places in files do not count. */
export function diffPlans(
  before: Plan,
  after: Plan,
  codeBefore: CodeDigests = {},
  codeAfter: CodeDigests = {},
): PlanDiff {
  const walk: Walk = { code: [codeBefore, codeAfter], steps: [], removed: [] };
  compareLevel(walk, '', before, after);
  return {
    steps: [...walk.steps, ...walk.removed],
    inputs: changedInputs(before, after),
    plan: [...planParts(before, after), ...changedChannels(walk, '', before, after)],
  };
}

interface Walk {
  readonly code: readonly [CodeDigests, CodeDigests];
  readonly steps: StepChange[];
  readonly removed: StepChange[];
}

function compareLevel(walk: Walk, prefix: string, before: Plan, after: Plan): void {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const former = formerIds(walk, prefix, before, after);
  for (const node of after.nodes) {
    const path = prefix + node.id;
    const was = old.get(node.id);
    old.delete(node.id);
    if (was === undefined) {
      const id = former.get(node.id);
      const named = id === undefined ? {} : { was: prefix + id };
      walk.steps.push({ path, change: 'added', parts: [], effect: 'result', ...named });
      continue;
    }
    const parts = new Map([
      ...nodeParts(was, node),
      ...edgeParts(node.id, before, after),
      ...codeParts(walk.code, prefix, node),
      ...innerParts(walk, `${path}/`, was, node),
    ]);
    if (parts.size > 0) {
      const effects = [...parts.values()];
      const effect = (['result', 'course', 'judgement'] as const).find((one) => effects.includes(one)) ?? 'policy';
      walk.steps.push({ path, change: 'changed', parts: [...parts.keys()], effect });
    }
    if ('plan' in was && 'plan' in node) compareLevel(walk, `${path}/`, was.plan, node.plan);
  }
  const others = new Set(former.values());
  for (const id of old.keys()) {
    const stays = others.has(id) ? { stays: true as const } : {};
    walk.removed.push({ path: prefix + id, change: 'removed', parts: [], effect: 'course', ...stays });
  }
}

function formerIds({ code }: Walk, prefix: string, before: Plan, after: Plan): ReadonlyMap<string, string> {
  return renamed(
    { nodes: nodesWithout(before, after), code: code[0], prefix },
    { nodes: nodesWithout(after, before), code: code[1], prefix },
  );
}

function nodesWithout({ nodes }: Plan, other: Plan): readonly PlanNode[] {
  const ids = new Set(other.nodes.map(({ id }) => id));
  return nodes.filter(({ id }) => !ids.has(id));
}

type Parts = readonly (readonly [word: string, effect: ChangeEffect])[];

function nodeParts(was: PlanNode, now: PlanNode): Parts {
  const [before, after] = [bareNode(was), bareNode(now)];
  const agents = [agentOf(before), agentOf(after)] as const;
  return [
    ...changedFields(before, after).flatMap((name) => {
      const field = nodeField(name);
      return field === undefined ? [] : [field];
    }),
    ...changedFields(...agents).map((name) => agentFields().get(name)?.change ?? ([name, 'result'] as const)),
  ];
}

function agentOf(node: PlanNode): object {
  return node.kind === 'agent' ? node.agent : {};
}

function changedFields(before: object, after: object): readonly string[] {
  const one = new Map<string, unknown>(Object.entries(before));
  const other = new Map<string, unknown>(Object.entries(after));
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => differs(one.get(name), other.get(name)));
}

function differs(one: unknown, other: unknown): boolean {
  return one !== other && textOf(one) !== textOf(other);
}

function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value);
}

/** Edges into a step belong to it; edges out of it belong to its routes. */
function edgeParts(id: string, before: Plan, after: Plan): Parts {
  const into = ({ edges }: Plan): readonly string[] =>
    edges.flatMap((edge) => (edge.to === id ? [edge.from] : [])).toSorted();
  // What a route's function mentions is part of that function, whose text is compared separately.
  const out = ({ routes }: Plan): readonly Route[] =>
    routes.flatMap(({ mentions: _mentions, ...route }) => (route.from === id ? [route] : []));
  // A result that may jump is recorded in another form.
  const jumps = (plan: Plan): boolean => out(plan).some((route) => route.choose === 'result');
  const effect = jumps(before) === jumps(after) ? 'course' : 'result';
  return [
    ...(differs(into(before), into(after)) ? [['order', 'course'] as const] : []),
    ...(differs(out(before), out(after)) ? [['routes', effect] as const] : []),
  ];
}

function codeParts([before, after]: Walk['code'], prefix: string, node: PlanNode): Parts {
  const { id } = node;
  const changed = (key: string): boolean => before[prefix + key] !== after[prefix + key];
  const tools = node.kind === 'agent' ? (node.agent.functions ?? []) : [];
  return [
    ...(changed(id) ? [['code', 'result'] as const] : []),
    ...tools.flatMap(({ name }) => (changed(toolKey(id, name)) ? [[`code of ${name}`, 'result'] as const] : [])),
    ...(changed(`when:${id}`) ? [['when', 'course'] as const] : []),
    ...(changed(supervisorKey(id)) ? [['supervision', 'judgement'] as const] : []),
    ...(changed(`until:${id}`) ? [['until', 'course'] as const] : []),
    ...(changed(`route:${id}`) ? [['routes', 'course'] as const] : []),
  ];
}

/** Parts of a sub-plan other than its steps belong to its node. */
function innerParts(walk: Walk, prefix: string, before: PlanNode, after: PlanNode): Parts {
  if (!('plan' in before) || !('plan' in after)) return [];
  const words = [
    ...changedInputs(before.plan, after.plan).map((name) => `input ${name}`),
    ...planParts(before.plan, after.plan),
    ...changedChannels(walk, prefix, before.plan, after.plan),
  ];
  return words.map((word) => [word, ['limits', 'budget', 'security'].includes(word) ? 'policy' : 'course'] as const);
}

function changedInputs(before: Plan, after: Plan): readonly string[] {
  const one = new Map(before.inputs.map((input) => [input.name, meaningOf(input)]));
  const other = new Map(after.inputs.map((input) => [input.name, meaningOf(input)]));
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => differs(one.get(name), other.get(name)));
}

function meaningOf({ channel, required, default: value, type, enum: words }: InputSpec): unknown {
  return { channel, required, value, type, words };
}

function planParts(before: Plan, after: Plan): readonly string[] {
  const names = [
    'entry',
    'exits',
    'finally',
    'firstExitWins',
    'output',
    'values',
    'limits',
    'budget',
    'security',
    ...DECLARED,
    'openInputs',
    'closedState',
  ] as const;
  return names.filter((name) => differs(before[name], after[name])).map((name) => PLAN_WORDS[name]);
}

const PLAN_WORDS = {
  entry: 'entry',
  exits: 'exits',
  finally: 'finally',
  firstExitWins: 'exits',
  output: 'output',
  values: 'output',
  limits: 'limits',
  budget: 'budget',
  security: 'security',
  hosts: 'hosts',
  commands: 'commands',
  sends: 'sends',
  openInputs: 'open inputs',
  closedState: 'closed state',
} as const;

/** A channel's reducer determines its value, and its label appears in prompts. Whether it is declared does not matter. */
function changedChannels({ code }: Walk, prefix: string, before: Plan, after: Plan): readonly string[] {
  const [codeBefore, codeAfter] = code;
  const one = new Map(before.channels.map((channel) => [channel.name, channel]));
  return after.channels
    .filter(({ name, reducer, label }) => {
      const was = one.get(name);
      if (was === undefined) return false;
      const key = `${prefix}channel:${name}`;
      return was.reducer !== reducer || was.label !== label || codeBefore[key] !== codeAfter[key];
    })
    .map(({ name }) => `channel ${name}`);
}

interface Steps {
  readonly nodes: readonly PlanNode[];
  readonly code: Readonly<Record<string, string>>;
  readonly prefix: string;
}

/** Maps the new ids of renamed steps to the former ones: an added step that does exactly what one removed step did. */
export function renamed(removed: Steps, added: Steps): ReadonlyMap<string, string> {
  const [before, after] = [byContent(removed), byContent(added)];
  const former = new Map<string, string>();
  for (const [content, ids] of after) {
    const [was, now] = [before.get(content) ?? [], ids];
    if (was.length === 1 && now.length === 1) former.set(now[0] ?? '', was[0] ?? '');
  }
  return former;
}

function byContent({ nodes, code, prefix }: Steps): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const node of nodes) addTo(ids, canonicalJson(contentOf(node, code, prefix)), node.id);
  return ids;
}

/** Returns what a step does, without its name. */
function contentOf(node: PlanNode, code: Readonly<Record<string, string>>, prefix: string): object {
  const { agent, ...fields } = decidingFields(node);
  const tools = node.kind === 'agent' ? (node.agent.functions ?? []) : [];
  return {
    fields,
    version: 'version' in node ? (node.version ?? '') : '',
    // An agent defined inside its step has the step's name.
    agent:
      agent === undefined || node.kind !== 'agent' || node.agent.name !== node.id
        ? (agent ?? '')
        : { ...node.agent, name: '' },
    code: [code[prefix + node.id] ?? '', ...tools.map(({ name }) => code[prefix + toolKey(node.id, name)] ?? '')],
    inside:
      'plan' in node ? node.plan.nodes.map((inner) => [inner.id, contentOf(inner, code, `${prefix}${node.id}/`)]) : [],
  };
}
