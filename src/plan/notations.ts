import { ownValue } from '../base/json.js';

/** Limits of nodes and agents that a run can reach, and the settings for a loop that reaches its limit and an answer that has the wrong form. */
export type Limit =
  'maxItems' | 'maxRounds' | 'onMaxRounds' | 'maxTurns' | 'maxToolCalls' | 'maxOutputTokens' | 'onInvalid';

/** Facts about a notation for running plans and reporting on them. How its files are read is in `notations/registry.ts`. */
interface NotationTraits {
  /** Names of limits in its files; a limit that is missing here has none. Absent: the names are those of plans. */
  readonly limits?: Readonly<Partial<Record<Limit, string>>>;
  /** Name of the key for the models of all agents of a file; each file has its own. Absent: it has none. */
  readonly models?: string;
  /** Steps are listed in the order in which they run; a block's steps form a plan of their own, a call without outputs. */
  readonly inOrder?: true;
  /** The input that receives the task of a run. Default `task`. */
  readonly taskInput?: string;
  /** The name of a plan is an id, which says alone whether a thread belongs to it: names of steps are too common. */
  readonly knownByName?: true;
  /** The ids of steps that were not named: they say only where a step stands, so any other workflow may have them too. */
  readonly unnamed?: RegExp;
}

const ROUNDS = { maxRounds: 'max_rounds', onMaxRounds: 'on_limit' } as const;

const TOKENS = { maxOutputTokens: 'max_tokens' } as const;

const TRAITS: Readonly<Record<string, NotationTraits>> = {
  agentfile: { limits: { maxOutputTokens: 'max_tokens in agent.toml' } },
  dag: { limits: { ...ROUNDS, ...TOKENS }, models: 'config.model' },
  machine: {
    limits: { ...TOKENS, maxTurns: 'max_rounds', maxToolCalls: 'max_tool_calls_per_turn' },
    taskInput: 'message',
    knownByName: true,
  },
  pipeline: {
    limits: { ...ROUNDS, ...TOKENS, maxItems: 'max_items', maxTurns: 'max_iterations' },
    inOrder: true,
    taskInput: 'prompt',
    unnamed: /^(?:step|run|tool|cond|par|seq|goto|loop|map|ask|set|call|end|wait)(?:_.*)?_\d+$/,
  },
};

export function traitsOf(notation: string | undefined): NotationTraits {
  return (ownValue(TRAITS, notation ?? '') as NotationTraits | undefined) ?? {};
}

export function limitHint(notation: string | undefined, limit: Limit, otherwise: string): string {
  const word = limitKey(notation, limit);
  return word === undefined ? otherwise : `raise ${word}, or ${otherwise}`;
}

export function limitKey(notation: string | undefined, limit: Limit): string | undefined {
  const { limits } = traitsOf(notation);
  return limits === undefined ? limit : limits[limit];
}
