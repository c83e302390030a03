import { bareRef, withoutWording } from '../lang/values.js';
import type { AgentSpec } from './agent-spec.js';
import type { PlanNode, SubInputs } from './plan.js';

/**
 * How far a change of a step goes: `result`: what was recorded of it does not count any more; `course`: it decides whether, after
 * what and with what the step runs, or where its result goes; `policy`: neither, only how often it is tried and the like.
 */
export type ChangeEffect = 'result' | 'course' | 'policy';

/** A field in words, and how far a change of it goes; undefined: people see it, nothing depends on it. */
type Field = readonly [word: string, effect: ChangeEffect] | undefined;

type NodeField = PlanNode extends infer Node ? (Node extends PlanNode ? keyof Node : never) : never;

/**
 * The one list of what a node has in addition to its id, its agent and its sub-plan. What stands here as `result` is what the digest of its
 * definition is made of (J2), and what is announced as a cause of running again (J11): nothing can be one and not the other.
 */
const NODE_FIELDS: Readonly<Record<Exclude<NodeField, 'id' | 'agent' | 'plan'>, Field>> = {
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
  onItemError: ['on item error', 'course'],
  onMaxRounds: ['on max rounds', 'course'],
  retry: ['retry', 'policy'],
  timeoutMs: ['timeout', 'policy'],
  maxVisits: ['max visits', 'policy'],
  countsAnewFrom: ['max visits', 'policy'],
  effect: ['effect', 'policy'],
  maxItems: ['max items', 'policy'],
  concurrency: ['concurrency', 'policy'],
  maxRounds: ['max rounds', 'policy'],
  label: undefined,
  errorPrefix: undefined,
  quiet: undefined,
  at: undefined,
};

/** Fields of agents in words: all of them are part of what decides its answers. */
const AGENT_WORDS: Readonly<Record<keyof AgentSpec, string>> = {
  name: 'name',
  description: 'description',
  instructions: 'system prompt',
  models: 'model',
  tools: 'tools',
  functions: 'functions',
  approve: 'approvals',
  permissions: 'permissions',
  mcpServers: 'tool servers',
  skills: 'skills',
  extraDirs: 'folders',
  maxTurns: 'limits',
  maxToolCalls: 'limits',
  output: 'schema',
  interactive: 'interactive',
  memory: 'memory',
  settings: 'settings',
  allowEmpty: 'empty answers',
  about: 'about',
  provider: 'provider',
  searchesAll: 'searches',
};

/** What stands in no plan and decides about the answers of agents, and how far a run may go: it is kept with each session of a run. */
export interface RunSettings {
  /** Flags that say which models answer, as canonical JSON; `{}`: each agent's own do. */
  readonly models: string;
  /** First text of the shared memory; absent: there is none. */
  readonly memory?: string;
  /** How many nodes may run one after another; absent: as the plans say. It decides about no result. */
  readonly maxSteps?: number;
}

/** What a run that was told nothing has. */
export const NO_SETTINGS: RunSettings = { models: '{}' };

/** A field of a node in words, and how far a change of it goes. */
export function nodeField(name: string): Field {
  const fields: Readonly<Record<string, Field>> = NODE_FIELDS;
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** A field of an agent in words. */
export function agentWord(name: string): string {
  const words: Readonly<Record<string, string>> = AGENT_WORDS;
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name;
}

/**
 * What of a node decides what it gives, in addition to its functions and its `version`.
 *
 * @example
 * decidingFields({ id: 'wait', kind: 'wait', ms: 5, timeoutMs: 9 }); // { kind: 'wait', ms: 5 }
 */
export function decidingFields(node: PlanNode): Readonly<Record<string, unknown>> {
  const bare = bareNode(node);
  const own = Object.entries(bare).filter(([name]) => name !== 'version' && nodeField(name)?.[1] === 'result');
  return Object.fromEntries(bare.kind === 'agent' ? [...own, ['agent', bare.agent]] : own);
}

/** A node without what its references are called in messages, which decides nothing. */
export function bareNode(node: PlanNode): PlanNode {
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
