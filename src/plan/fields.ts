import { present } from '../base/json.js';
import type { Json } from '../base/json.js';
import { bareJson } from '../lang/json-template.js';
import { bareRef, withoutWording } from '../lang/values.js';
import { AGENT, MCP_SERVERS, PERMISSIONS, SANDBOX } from './agent-fields.js';
import type { AgentSpec } from './agent-spec.js';
import { BUDGET } from './budget.js';
import type { BudgetChange } from './budget.js';
import {
  any,
  flag,
  integer,
  is,
  keyName,
  list,
  names,
  number,
  object,
  someObject,
  TEXT,
  variants,
  withKey,
  word,
  wordOr,
} from './form.js';
import type { Form } from './form.js';
import { MOST_ROUNDS } from './limits.js';
import { POLICIES } from './node-policies.js';
import type {
  AgentNode,
  AskNode,
  Choice,
  Conversation,
  NodeBase,
  NodeKind,
  NodeOptions,
  OtherWay,
  Plan,
  PlanNode,
  Require,
  SubInputs,
} from './plan.js';
import { bounding, byName, course, formsOf, policy, result, shown } from './rows.js';
import type { Meaning, Row, Rows } from './rows.js';
import { SECURITY } from './security.js';
import type { Security } from './security.js';
import type { ToolUse } from './tool-use.js';
import { CONDITIONS, JSON_TEMPLATE, LINE, POSITION, REF, TEMPLATE } from './value-forms.js';

const TO = object<{ readonly to: string }>({ to: TEXT });
const OTHER_WAY = object<OtherWay>({ to: TEXT, 'degraded?': flag<true>() });
const FAIL = object<{ readonly fail: string; readonly hint?: string }>({ fail: TEXT, 'hint?': TEXT });
/** What may be said about any node. The names are those of the options of code notations, in this order. */
const OPTIONS: Rows<NodeOptions> = {
  'label?': shown(TEXT),
  'join?': course(
    'join',
    wordOr(['all', 'any', 'each', 'settled'], object<{ readonly quorum: number }>({ quorum: integer(1, MOST_ROUNDS) })),
  ),
  ...POLICIES,
  'onSkip?': course('on skip', word('continue')),
  'onError?': course('on error', wordOr(['fail', 'continue', 'skipDependents', 'settle', 'ignore'], TO)),
  'ending?': course('ending', TEXT),
  'maxVisits?': policy('max visits', integer(1, MOST_ROUNDS)),
  'budget?': policy('budget', BUDGET),
  'security?': policy('security', SECURITY),
  'onMaxVisits?': course('on max visits', wordOr(['fail', 'skip'], withKey('fail', FAIL, OTHER_WAY))),
  'effect?': policy('effect', word('read', 'idempotent', 'once')),
  'version?': result('version', TEXT),
};

const EVERY: Rows<NodeBase & Pick<PlanNode, 'kind'>> = {
  id: shown(TEXT),
  kind: result('kind', word('task', 'agent', 'call', 'map', 'loop', 'ask', 'wait', 'pass', 'end', 'set')),
  'writes?': course('writes', list(TEXT)),
  'output?': course('output', TEXT),
  'countsAnewFrom?': policy('max visits', TEXT),
  'quiet?': shown(flag<true>()),
  'unsupervised?': shown(flag<true>()),
  'role?': shown(word('goal', 'convergence', 'subagent', 'synthesis')),
  'about?': shown(TEMPLATE),
  'at?': shown(POSITION),
  ...OPTIONS,
};

const INPUTS: Form<SubInputs> = names(JSON_TEMPLATE);
const WITH_PLAN = { plan: shown(someObject<Plan>()), 'inputs?': course('inputs', INPUTS) };
const REQUIRE: Row<Require> = course('require', wordOr(['all'], integer(1)));
const OUTPUTS = course('outputs', names(TEXT));
const WITH_OUTPUTS = { ...WITH_PLAN, 'outputs?': OUTPUTS, 'errorPrefix?': shown(TEXT) };
const SCHEMA = result('schema', any<Json>());
const ON_EXPIRE: Row<NonNullable<AskNode['onExpire']>> = course(
  'on expiry',
  wordOr(['fail'], object({ answer: any<Json>() })),
);

type Own<K> = Omit<Extract<PlanNode, { readonly kind: K }>, keyof NodeBase | 'kind'>;

/** The form of a tool that a step calls by itself. */
const TOOL_USE: Form<ToolUse> = object<ToolUse>({
  name: TEXT,
  input: JSON_TEMPLATE,
  'stdin?': TEMPLATE,
  'env?': names(TEMPLATE),
  'result?': word('text', 'all'),
  'schema?': any<Json>(),
  'approve?': flag<true>(),
  'permissions?': PERMISSIONS,
  'sandbox?': SANDBOX,
  'mcpServers?': MCP_SERVERS,
});

/**
 * What the nodes of a kind have in addition. What stands in these tables as `result`, and the agent, is what the digest of a definition is made of (J2), and
 * what is announced as a cause of running again (J11): nothing can be one and not the other.
 */
const OWN: { readonly [K in NodeKind]: Rows<Own<K>> } = {
  task: { 'asked?': shown(TEMPLATE), 'tool?': result('tool', TOOL_USE) },
  agent: {
    agent: shown(AGENT),
    prompt: result('prompt', TEMPLATE),
    'conversation?': result(
      'conversation',
      object<Conversation>({ channel: TEXT, 'recent?': integer(1), 'afresh?': flag<true>(), 'mark?': names(TEXT) }),
    ),
    'fields?': course('fields', names(TEXT)),
    'fieldsStrict?': policy('strict fields', flag<true>()),
    'fieldsUnless?': course('fields', object<NonNullable<AgentNode['fieldsUnless']>>({ line: LINE, after: REF })),
    'choice?': result(
      'choice',
      wordOr(
        ['code'],
        object<Choice>({
          'tool?': TEXT,
          'description?': TEXT,
          answers: names(object<Choice['answers'][string]>({ to: TEXT, 'about?': TEXT })),
        }),
      ),
    ),
  },
  call: { ...WITH_OUTPUTS, 'require?': REQUIRE },
  map: {
    ...WITH_PLAN,
    over: course('list', REF),
    item: course('item', TEXT),
    'index?': course('item', TEXT),
    'itemKey?': course('item', TEXT),
    'key?': course('key', list(TEXT)),
    result: course('result', TEXT),
    maxItems: bounding('unbounded-map', policy('max items', integer(1, MOST_ROUNDS))),
    'concurrency?': policy('concurrency', integer(1)),
    'require?': REQUIRE,
    'onItemError?': course('on item error', word('fail', 'continue', 'leaveOut')),
  },
  loop: {
    ...WITH_OUTPUTS,
    until: course('until', CONDITIONS),
    'carry?': course('carry', list(TEXT)),
    'carryAs?': course('carry', names(TEXT)),
    'collect?': course('collect', names(TEXT)),
    maxRounds: bounding('unbounded-loop', policy('max rounds', integer(1, MOST_ROUNDS))),
    'rounds?': course('rounds', REF),
    'onMaxRounds?': course('on max rounds', word('fail', 'continue', 'degrade')),
    'keep?': course('keep', word('before', 'beforeMarked')),
    'stopWhen?': course('stop', word('repeated')),
  },
  ask: {
    question: result('question', TEMPLATE),
    'choices?': result('choices', list(TEXT)),
    'choicesFrom?': course('choices', REF),
    'schema?': SCHEMA,
    'expiresMs?': result('expiry', number(1)),
    'onExpire?': ON_EXPIRE,
  },
  wait: {
    'ms?': result('time', number(0)),
    'until?': course(
      'until',
      is((value) => value === 'code' || typeof value === 'number', 'a number or "code"'),
    ),
    'event?': result('event', TEXT),
    'schema?': SCHEMA,
    'onExpire?': ON_EXPIRE,
  },
  pass: {},
  end: {
    'status?': course('status', word('succeeded', 'failed')),
    'reason?': course('reason', TEMPLATE),
    'out?': course('end', integer(0)),
  },
  set: { values: result('values', names(JSON_TEMPLATE)) },
};

/** The form of a node. */
export const NODE: Form<PlanNode> = variants(
  'kind',
  new Map(Object.entries(OWN).map(([kind, own]) => [kind, object(formsOf({ ...EVERY, ...own }))])),
);

/** All fields by name: a name means the same whatever the kind of the node. */
const FIELDS: ReadonlyMap<string, Meaning> = new Map(
  [EVERY, ...Object.values(OWN)].flatMap((rows) => [...byName(rows)]),
);

/** The names of what may be said about any node. */
export const NODE_OPTION_NAMES = Object.keys(OPTIONS).map((key) => keyName(key).name) as readonly (keyof NodeOptions)[];

/** What stands in no plan and decides about the answers of agents, and how far a run may go: it is kept with each session of a run. */
export interface RunSettings {
  /** Flags that say which models answer, as canonical JSON; `{}`: each agent's own do. */
  readonly models: string;
  /** First text of the shared memory; absent: there is none. */
  readonly memory?: string;
  /** How many nodes may run one after another; absent: as the plans say. It decides about no result. */
  readonly maxSteps?: number;
  /** Inputs that come from somewhere the user has no say in; absent: none. They decide about no result. */
  readonly untrusted?: readonly string[];
  /** Digest of the policies that held (`guard/policy.ts`); absent: none. They decide about calls that are made, not about those that are recorded. */
  readonly policy?: string;
  /** Which models look at calls of tools, at least; absent: as the plan says. It decides about no result. */
  readonly security?: Security;
  /** The prices that it was given (`budget/prices.ts`); absent: none. They decide about no result. */
  readonly prices?: object;
  /** What was asked of its budget; absent: nothing. It decides about no result. */
  readonly budget?: BudgetSettings;
}

/** What was asked of the budget of a run so far, in place of what its plan says. */
export interface BudgetSettings {
  /** By name of the limit. */
  readonly changes: Readonly<Record<string, BudgetChange>>;
  /** How many of those that stand beside the record of the run are among them. */
  readonly taken: number;
  /** How many answers of people who were asked are. */
  readonly answers: number;
}

/** What a run that was told nothing has. */
export const NO_SETTINGS: RunSettings = { models: '{}' };

/** What a change of a field of a node is called, and how far it goes. */
export function nodeField(name: string): Meaning['change'] {
  return FIELDS.get(name)?.change;
}

/** The fields of a kind of node. */
export function fieldsOf(kind: NodeKind): ReadonlyMap<string, Meaning> {
  return new Map([...byName(EVERY), ...byName(OWN[kind])]);
}

const CAPS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  (Object.keys(OWN) as NodeKind[]).map((kind) => {
    const fields = [...fieldsOf(kind)];
    return [
      kind,
      new Map(fields.flatMap(([name, { unbounded }]) => (unbounded === undefined ? [] : [[name, unbounded]]))),
    ];
  }),
);
const NO_CAPS: ReadonlyMap<string, string> = new Map();

/** The caps that a kind of node must have, and the code of the problem of a node without. */
export function capsOf(kind: NodeKind): ReadonlyMap<string, string> {
  return CAPS.get(kind) ?? NO_CAPS;
}

/**
 * What of a node decides what it gives, in addition to its functions and its `version`.
 * `decidingFields({ id: 'wait', kind: 'wait', ms: 5, timeoutMs: 9 })` gives `{ kind: 'wait', ms: 5 }`.
 */
export function decidingFields(node: PlanNode): Readonly<Record<string, unknown>> {
  const bare = bareNode(node);
  const own = Object.entries(bare).filter(([name]) => name !== 'version' && nodeField(name)?.[1] === 'result');
  return Object.fromEntries(bare.kind === 'agent' ? [...own, ['agent', decidingOf(bare.agent)]] : own);
}

function decidingOf(agent: AgentSpec): Readonly<Record<string, unknown>> {
  const { cache: _cache, policy: _policy, ...deciding } = agent;
  return deciding;
}

/** A node without what its references are called in messages, which decides nothing. */
export function bareNode(node: PlanNode): PlanNode {
  const bare = bareOwn(node);
  const { supervise } = bare;
  if (supervise?.instruction === undefined) return bare;
  return { ...bare, supervise: { ...supervise, instruction: withoutWording(supervise.instruction) } };
}

function bareOwn(node: PlanNode): PlanNode {
  switch (node.kind) {
    case 'agent': {
      const agent = { ...node.agent, instructions: withoutWording(node.agent.instructions) };
      return { ...node, agent, prompt: withoutWording(node.prompt) };
    }
    case 'ask':
      return {
        ...node,
        question: withoutWording(node.question),
        ...present({ choicesFrom: node.choicesFrom && bareRef(node.choicesFrom) }),
      };
    case 'map':
      return { ...node, over: bareRef(node.over) };
    case 'call':
      return node.inputs === undefined ? node : { ...node, inputs: bareInputs(node.inputs) };
    case 'set':
      return { ...node, values: bareInputs(node.values) };
    case 'end':
      return { ...node, ...present({ reason: node.reason && withoutWording(node.reason) }) };
    case 'loop':
      return { ...node, ...present({ rounds: node.rounds && bareRef(node.rounds) }) };
    case 'task':
      return node.tool === undefined ? node : { ...node, tool: bareTool(node.tool) };
    case 'wait':
    case 'pass':
      return node;
  }
}

function bareTool(tool: ToolUse): ToolUse {
  const { input, stdin, env } = tool;
  return {
    ...tool,
    input: bareJson(input),
    ...present({ stdin: stdin && withoutWording(stdin) }),
    ...(env === undefined
      ? {}
      : { env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, withoutWording(text)])) }),
  };
}

function bareInputs(inputs: SubInputs = {}): SubInputs {
  return Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, bareJson(input)]));
}
