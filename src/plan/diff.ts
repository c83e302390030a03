import { canonicalJson } from '../base/hash.js';
import { bareRef, withoutWording } from '../lang/wording.js';
import type { InputSpec, Plan, PlanNode, Route, SubInputs } from './plan.js';

/**
 * How far a change of a step goes: `result`: what was recorded of it does not count any more; `course`: it decides whether, after
 * what and with what the step runs, or where its result goes; `policy`: neither, only how often it is tried and the like.
 */
export type ChangeEffect = 'result' | 'course' | 'policy';

/** A step that is not as it was. */
export interface StepChange {
  /** Ids from the outermost node in: `review/critic`. */
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** What of it was changed, in words: `prompt`, `model`, `when`. Empty for one that was added or removed. */
  readonly parts: readonly string[];
  readonly effect: ChangeEffect;
}

/** What makes a plan another one. */
export interface PlanDiff {
  /** In the order of the new plan, an outer step before those inside of it; then those that were removed. */
  readonly steps: readonly StepChange[];
  /** Names of inputs that were added, removed or changed. */
  readonly inputs: readonly string[];
  /** What else of the plan was changed, in words: `limits`, `channel log`. */
  readonly plan: readonly string[];
}

/** Digests of functions, by their keys in the bindings. */
export type CodeDigests = Readonly<Record<string, string>>;

/**
 * Compares two plans, with the digests of their functions. Names, descriptions and places in files do not count.
 *
 * @example
 * diffPlans(before, after).steps; // [{ path: 'text', change: 'changed', parts: ['prompt'], effect: 'result' }]
 */
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
  for (const node of after.nodes) {
    const path = prefix + node.id;
    const was = old.get(node.id);
    old.delete(node.id);
    if (was === undefined) {
      walk.steps.push({ path, change: 'added', parts: [], effect: 'result' });
      continue;
    }
    const parts = new Map([
      ...nodeParts(was, node),
      ...edgeParts(node.id, before, after),
      ...codeParts(walk.code, prefix, node.id),
      ...innerParts(walk, `${path}/`, was, node),
    ]);
    if (parts.size > 0) {
      const effect = strongest([...parts.values()]);
      walk.steps.push({ path, change: 'changed', parts: [...parts.keys()], effect });
    }
    if ('plan' in was && 'plan' in node) compareLevel(walk, `${path}/`, was.plan, node.plan);
  }
  for (const id of old.keys()) {
    walk.removed.push({ path: prefix + id, change: 'removed', parts: [], effect: 'course' });
  }
}

function strongest(effects: readonly ChangeEffect[]): ChangeEffect {
  if (effects.includes('result')) return 'result';
  return effects.includes('course') ? 'course' : 'policy';
}

type Parts = readonly (readonly [word: string, effect: ChangeEffect])[];

/** Fields of nodes, with what they are called and how far a change of them goes. The others have no effect at all. */
const FIELDS: Readonly<Record<string, readonly [word: string, effect: ChangeEffect]>> = {
  kind: ['kind', 'result'],
  version: ['version', 'result'],
  prompt: ['prompt', 'result'],
  question: ['question', 'result'],
  choices: ['choices', 'result'],
  schema: ['schema', 'result'],
  expiresMs: ['expiry', 'result'],
  ms: ['time', 'result'],
  event: ['event', 'result'],
  when: ['when', 'course'],
  join: ['join', 'course'],
  writes: ['writes', 'course'],
  output: ['output', 'course'],
  onError: ['on error', 'course'],
  onMaxVisits: ['on max visits', 'course'],
  onExpire: ['on expiry', 'course'],
  over: ['list', 'course'],
  item: ['item', 'course'],
  key: ['key', 'course'],
  result: ['result', 'course'],
  inputs: ['inputs', 'course'],
  outputs: ['outputs', 'course'],
  until: ['until', 'course'],
  carry: ['carry', 'course'],
  retry: ['retry', 'policy'],
  timeoutMs: ['timeout', 'policy'],
  maxVisits: ['max visits', 'policy'],
  countsAnewFrom: ['max visits', 'policy'],
  effect: ['effect', 'policy'],
  maxItems: ['max items', 'policy'],
  concurrency: ['concurrency', 'policy'],
  onItemError: ['on item error', 'course'],
  maxRounds: ['max rounds', 'policy'],
  onMaxRounds: ['on max rounds', 'course'],
};

/** Fields of agents: all of them are part of what decides its answers. */
const AGENT_WORDS: Readonly<Record<string, string>> = {
  instructions: 'system prompt',
  models: 'model',
  approve: 'approvals',
  mcpServers: 'tool servers',
  extraDirs: 'folders',
  maxTurns: 'limits',
  maxToolCalls: 'limits',
  output: 'schema',
  allowEmpty: 'empty answers',
};

function nodeParts(was: PlanNode, now: PlanNode): Parts {
  const [before, after] = [bareNode(was), bareNode(now)];
  const agents = [agentOf(before), agentOf(after)] as const;
  return [
    ...changedFields(before, after).flatMap((name) => {
      const known = FIELDS[name];
      return known === undefined ? [] : [known];
    }),
    ...changedFields(...agents).map((name) => [AGENT_WORDS[name] ?? name, 'result'] as const),
  ];
}

/** Without what references are called. */
function bareNode(node: PlanNode): PlanNode {
  switch (node.kind) {
    case 'agent': {
      const agent = { ...node.agent, instructions: withoutWording(node.agent.instructions) };
      return { ...node, agent, prompt: withoutWording(node.prompt) };
    }
    case 'ask':
      return { ...node, question: withoutWording(node.question) };
    case 'map':
      return { ...node, over: bareRef(node.over) };
    case 'call':
      return node.inputs === undefined ? node : { ...node, inputs: bareInputs(node.inputs) };
    case 'task':
    case 'loop':
    case 'wait':
    case 'pass':
      return node;
  }
}

function bareInputs(inputs: SubInputs): SubInputs {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [
      name,
      'template' in input ? { ...input, template: withoutWording(input.template) } : input,
    ]),
  );
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

/** What leads to a step belongs to it; where it leads on to belongs to the routes that leave it. */
function edgeParts(id: string, before: Plan, after: Plan): Parts {
  const into = ({ edges }: Plan): readonly string[] =>
    edges.flatMap((edge) => (edge.to === id ? [edge.from] : [])).toSorted();
  // What its function names is part of that function, whose text is compared by itself.
  const out = ({ routes }: Plan): readonly Route[] =>
    routes.flatMap(({ mentions: _mentions, ...route }) => (route.from === id ? [route] : []));
  // A result that may say where to go on is recorded in another form.
  const jumps = (plan: Plan): boolean => out(plan).some((route) => route.choose === 'result');
  const effect = jumps(before) === jumps(after) ? 'course' : 'result';
  return [
    ...(differs(into(before), into(after)) ? [['order', 'course'] as const] : []),
    ...(differs(out(before), out(after)) ? [['routes', effect] as const] : []),
  ];
}

function codeParts([before, after]: Walk['code'], prefix: string, id: string): Parts {
  const changed = (key: string): boolean => before[prefix + key] !== after[prefix + key];
  return [
    ...(changed(id) ? [['code', 'result'] as const] : []),
    ...(changed(`when:${id}`) ? [['when', 'course'] as const] : []),
    ...(changed(`until:${id}`) ? [['until', 'course'] as const] : []),
    ...(changed(`route:${id}`) ? [['routes', 'course'] as const] : []),
  ];
}

/** What a sub-plan has besides its steps belongs to its node. */
function innerParts(walk: Walk, prefix: string, before: PlanNode, after: PlanNode): Parts {
  if (!('plan' in before) || !('plan' in after)) return [];
  const words = [
    ...changedInputs(before.plan, after.plan).map((name) => `input ${name}`),
    ...planParts(before.plan, after.plan),
    ...changedChannels(walk, prefix, before.plan, after.plan),
  ];
  return words.map((word) => [word, word === 'limits' ? 'policy' : 'course'] as const);
}

function changedInputs(before: Plan, after: Plan): readonly string[] {
  const one = new Map(before.inputs.map((input) => [input.name, meaningOf(input)]));
  const other = new Map(after.inputs.map((input) => [input.name, meaningOf(input)]));
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => differs(one.get(name), other.get(name)));
}

function meaningOf({ channel, required, default: value }: InputSpec): unknown {
  return { channel, required, value };
}

function planParts(before: Plan, after: Plan): readonly string[] {
  const names = ['entry', 'exits', 'firstExitWins', 'limits', 'openInputs', 'closedState'] as const;
  return names.filter((name) => differs(before[name], after[name])).map((name) => PLAN_WORDS[name]);
}

const PLAN_WORDS = {
  entry: 'entry',
  exits: 'exits',
  firstExitWins: 'exits',
  limits: 'limits',
  openInputs: 'open inputs',
  closedState: 'closed state',
} as const;

/** How a channel folds its writes says what is in it, and its label stands in prompts: that it is declared is of no account. */
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
