import { lazily, madeOnce } from '../base/collections.js';
import { present, type Json } from '../base/json.js';
import { bareJson } from '../lang/json-template.js';
import { bareRef, withoutWording } from '../lang/values.js';
import { AGENT, MCP_SERVERS, PERMISSIONS, SANDBOX } from './agent-fields.js';
import type { AgentSpec } from './agent-spec.js';
import { BUDGET, type BudgetChange } from './budget.js';
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
  type Form,
} from './form.js';
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
import { bounding, byName, course, formOf, policy, result, shown, type Meaning, type Row, type Rows } from './rows.js';
import { SECURITY, type Security } from './security.js';
import type { ToolUse } from './tool-use.js';
import { CONDITIONS, JSON_TEMPLATE, LINE, POSITION, REF, TEMPLATE } from './value-forms.js';

const TO = object<{ readonly to: string }>({ to: TEXT });
const OTHER_WAY = object<OtherWay>({ to: TEXT, 'degraded?': flag<true>() });
const FAIL = object<{ readonly fail: string; readonly hint?: string }>({ fail: TEXT, 'hint?': TEXT });
/** Options of every node, in this order. The names are those of the code notations. */
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

/** The form of a tool that a step calls directly. */
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

/** Additional fields of each kind of node. Those marked `result`, and the agent, form the digest of a definition (J2, J11). */
const OWN: { readonly [K in NodeKind]: Rows<Own<K>> } = {
  task: {
    'asked?': shown(TEMPLATE),
    'probe?': policy('probe', word('code')),
    'callsTool?': shown(TEXT),
    'trustsTool?': shown(flag<true>()),
    'tool?': result('tool', TOOL_USE),
  },
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

const KINDS = Object.keys(OWN) as NodeKind[];

export const NODE: Form<PlanNode> = variants('kind', KINDS, (kind) => formOf({ ...EVERY, ...OWN[kind] }));

/** All fields by name: a name has the same meaning in every kind of node. */
const allFields = lazily(
  (): ReadonlyMap<string, Meaning> => new Map([EVERY, ...Object.values(OWN)].flatMap((rows) => [...byName(rows)])),
);

export function nodeFieldNames(): readonly string[] {
  return [...allFields().keys()];
}

export const NODE_OPTION_NAMES = Object.keys(OPTIONS).map((key) => keyName(key).name) as readonly (keyof NodeOptions)[];

/** Settings outside the plan that influence agents' answers or how far a run may go. They are kept with each session of a run. */
export interface RunSettings {
  /** Flags that choose the answering models, as canonical JSON; `{}`: each agent's own models. */
  readonly models: string;
  /** Initial text of the shared memory; absent: no memory. */
  readonly memory?: string;
  /** Number of nodes that may run one after another; absent: as the plans specify. Does not influence results. */
  readonly maxSteps?: number;
  /** Inputs from a source that the user does not control; absent: none. Does not influence results. */
  readonly untrusted?: readonly string[];
  /** Private inputs; absent: none. Does not influence results. */
  readonly private?: readonly string[];
  /** Digest of the active policies (`guard/policy.ts`); absent: none. Applies to new calls, not to recorded ones. */
  readonly policy?: string;
  /** Minimum review of tool calls by models; absent: as the plan specifies. Does not influence results. */
  readonly security?: Security;
  /** The given prices (`budget/prices.ts`); absent: none. Does not influence results. */
  readonly prices?: object;
  /** Requested changes of the budget; absent: none. Does not influence results. */
  readonly budget?: BudgetSettings;
}

/** The changes requested for a run's budget so far, which override its plan. */
export interface BudgetSettings {
  /** By name of the limit. */
  readonly changes: Readonly<Record<string, BudgetChange>>;
  /** How many changes from the rows beside the run's record are included. */
  readonly taken: number;
  /** How many people's answers are included. */
  readonly answers: number;
}

export const NO_SETTINGS: RunSettings = { models: '{}' };

/** Returns the name and the effect of a change of a node's field. */
export function nodeField(name: string): Meaning['change'] {
  return allFields().get(name)?.change;
}

export function fieldsOf(kind: NodeKind): ReadonlyMap<string, Meaning> {
  return new Map([...byName(EVERY), ...byName(OWN[kind])]);
}

const caps = new Map<NodeKind, ReadonlyMap<string, string>>();

/** Returns the caps that a kind of node must have, and the problem code for each missing one. */
export function capsOf(kind: NodeKind): ReadonlyMap<string, string> {
  return madeOnce(caps, kind, () => {
    const fields = [...fieldsOf(kind)];
    return new Map(fields.flatMap(([name, { unbounded }]) => (unbounded === undefined ? [] : [[name, unbounded]])));
  });
}

/** Returns the fields of a node that determine its result, without its functions and `version`. */
export function decidingFields(node: PlanNode): Readonly<Record<string, unknown>> {
  const bare = bareNode(node);
  const own = Object.entries(bare).filter(([name]) => name !== 'version' && nodeField(name)?.[1] === 'result');
  return Object.fromEntries(bare.kind === 'agent' ? [...own, ['agent', decidingOf(bare.agent)]] : own);
}

function decidingOf(agent: AgentSpec): Readonly<Record<string, unknown>> {
  const { cache: _cache, policy: _policy, ...deciding } = agent;
  return deciding;
}

/** Returns a node without the names of its references in messages, which influence nothing. */
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
