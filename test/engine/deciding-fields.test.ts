import { describe, expect, it } from 'vitest';
import { compile } from '../../src/engine/graph/compile.js';
import { definitionOf } from '../../src/engine/durable/identity.js';
import type { AgentSpec } from '../../src/plan/agent-spec.js';
import { diffPlans } from '../../src/plan/diff.js';
import type { AgentNode, AskNode, NodeKind, Plan, PlanNode, WaitNode } from '../../src/plan/plan.js';

const INNER: Plan = { format: 1, name: 'inner', inputs: [], channels: [], nodes: [], edges: [], routes: [] };

const AGENT: Required<AgentSpec> = {
  name: 'a',
  description: 'writes',
  instructions: ['You write.'],
  models: ['own/a'],
  tools: ['think'],
  functions: [{ name: 'count', description: 'Counts.', input: {}, effect: 'read' }],
  approve: ['think'],
  permissions: { deny: ['shell'] },
  mcpServers: { s: { command: 'server' } },
  skills: [{ name: 's', text: 'Rhyme.' }],
  extraDirs: ['docs'],
  maxTurns: 3,
  maxToolCalls: 4,
  until: { rounds: 2 },
  output: { schema: {} },
  checks: [{ kind: 'json' }],
  interactive: true,
  memory: { inject: true },
  settings: { seed: 1 },
  forModels: { small: { settings: { seed: 2 } } },
  allowEmpty: true,
  about: ['date'],
  provider: { type: 'openai' },
  searchesAll: true,
  sandbox: 'on',
  policy: { file: 'policy.toml', deny: ['shell'] },
  cache: 'off',
};

/** Everything that a node can have besides its id, its kind and what only one kind has. */
const COMMON = {
  label: 'A',
  writes: ['x'],
  output: 'x',
  join: 'any',
  when: [{ op: 'code' }],
  onSkip: 'continue',
  ending: 'x',
  endorse: 'person',
  supervise: { by: 'model', instruction: ['Write.'] },
  retry: { retries: 1, backoff: 'fixed', delayMs: 1 },
  timeoutMs: 5,
  onError: 'continue',
  maxVisits: 2,
  budget: { usd: 1 },
  security: { mode: 'paranoid' },
  countsAnewFrom: 'x',
  onMaxVisits: 'skip',
  effect: 'once',
  version: '2',
  quiet: true,
  unsupervised: true,
  role: 'goal',
  about: ['It is done.'],
  at: { file: 'f.yaml', line: 1, column: 1 },
} as const;

const ASK: Omit<Required<AskNode>, keyof typeof COMMON | 'id' | 'kind'> = {
  question: ['Go on?'],
  choices: ['yes'],
  choicesFrom: { channel: 'x' },
  schema: { type: 'string' },
  expiresMs: 5,
  onExpire: { answer: 'no' },
};
const WAIT: Omit<Required<WaitNode>, keyof typeof COMMON | 'id' | 'kind'> = {
  ms: 5,
  event: 'e',
  until: 7,
  schema: { type: 'string' },
  onExpire: { answer: 'no' },
};
const AGENT_NODE: Omit<Required<AgentNode>, keyof typeof COMMON | 'id' | 'kind'> = {
  agent: AGENT,
  prompt: ['Write.'],
  conversation: { channel: 'messages', recent: 5, afresh: true },
  fields: { x: 'x' },
  fieldsStrict: true,
  fieldsUnless: { line: 'DONE', after: { channel: 'x' } },
  choice: { tool: 'choose', description: 'Say it.', answers: { on: { to: 'END', about: 'It ends.' } } },
};
const SUB = { plan: INNER, inputs: {}, outputs: {} };

const OWN: Readonly<Record<NodeKind, object>> = {
  task: {},
  pass: {},
  end: { status: 'failed', reason: ['Why.'], out: 1 },
  set: { values: { n: { value: 1 } } },
  agent: AGENT_NODE,
  ask: ASK,
  wait: WAIT,
  call: { ...SUB, errorPrefix: 'inner: ', require: 2 },
  map: {
    plan: INNER,
    over: { channel: 'x' },
    item: 'i',
    inputs: {},
    key: ['k'],
    result: 'r',
    maxItems: 3,
    concurrency: 2,
    onItemError: 'continue',
    require: 'all',
  },
  loop: {
    ...SUB,
    until: [{ op: 'code' }],
    carry: ['x'],
    collect: { x: 'y' },
    maxRounds: 3,
    rounds: { channel: 'x' },
    onMaxRounds: 'continue',
    keep: 'before',
    stopWhen: 'repeated',
  },
};

const AGENT_OTHER: Readonly<Record<string, unknown>> = { name: 'b', models: [], instructions: [] };

function planOf(node: object): Plan {
  return { ...INNER, name: 'p', channels: [{ name: 'x' }], nodes: [node as PlanNode] };
}

function definition(plan: Plan): string {
  const body = (): undefined => undefined;
  const bindings = { n: body, 'when:n': body, 'until:n': body, 'tool:n/count': body };
  const [node] = compile(plan, bindings).nodes;
  if (node === undefined) throw new Error('no node');
  return definitionOf(node);
}

/** What stands in place of a field that can't be absent. */
const OTHER: Readonly<Record<string, unknown>> = { prompt: [], question: [], until: [], over: { channel: 'y' } };

/** Each field taken away in turn, or given another value. */
const EDITS = Object.entries(OWN).flatMap(([kind, own]) => {
  const whole = { ...COMMON, ...own, id: 'n', kind };
  return Object.keys({ ...COMMON, ...own }).flatMap((field) => {
    if (field === 'plan') return [];
    if (field !== 'agent') return [{ kind, field, whole, edited: { ...whole, [field]: OTHER[field] } }];
    return Object.keys(AGENT).map((name) => {
      const edited = {
        ...whole,
        agent: { ...AGENT, [name]: AGENT_OTHER[name] },
      };
      return { kind, field: `agent.${name}`, whole, edited };
    });
  });
});

describe('[XR3] the identity of a result and what is announced have one list of causes', () => {
  it.each(EDITS)(
    '$kind: an edit of $field is another identity if and only if it is announced as one that voids the result',
    ({ whole, edited }) => {
      const [before, after] = [planOf(whole), planOf(edited)];
      const voids = diffPlans(before, after).steps.some(({ path, effect }) => path === 'n' && effect === 'result');
      expect(definition(before) !== definition(after)).toBe(voids);
    },
  );

  it('knows every edit: what is neither announced nor part of an identity is only shown to people', () => {
    const silent = EDITS.filter(({ whole, edited }) => diffPlans(planOf(whole), planOf(edited)).steps.length === 0);
    expect([...new Set(silent.map(({ field }) => field))].toSorted()).toEqual([
      'about',
      'at',
      'errorPrefix',
      'label',
      'quiet',
      'role',
      'unsupervised',
    ]);
  });
});
