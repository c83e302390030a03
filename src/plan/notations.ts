import { ownValue } from '../base/json.js';

/** Limits of nodes and agents that a run can reach, and what is done about that of a loop. */
export type Limit = 'maxItems' | 'maxRounds' | 'onMaxRounds' | 'maxTurns' | 'maxToolCalls' | 'maxOutputTokens';

/** What those who run plans and tell of them know of a notation. How its files are read is in `notations/registry.ts`. */
interface NotationTraits {
  /** The keys of limits in its files; a limit that is not here has none. Absent: they are called as in plans. */
  readonly limits?: Readonly<Partial<Record<Limit, string>>>;
  /** Steps stand in the order in which they run; those of a block are a plan of their own, a call without outputs. */
  readonly inOrder?: true;
  /** The input that takes the task of whoever runs the workflow. Default `task`. */
  readonly taskInput?: string;
}

const ROUNDS = { maxRounds: 'max_rounds', onMaxRounds: 'on_limit' } as const;

const TOKENS = { maxOutputTokens: 'max_tokens' } as const;

const TRAITS: Readonly<Record<string, NotationTraits>> = {
  agentfile: { limits: { maxOutputTokens: 'max_tokens in agent.toml' } },
  dag: { limits: { ...ROUNDS, ...TOKENS } },
  machine: {
    limits: { ...TOKENS, maxTurns: 'max_rounds', maxToolCalls: 'max_tool_calls_per_turn' },
    taskInput: 'message',
  },
  pipeline: {
    limits: { ...ROUNDS, ...TOKENS, maxItems: 'max_items', maxTurns: 'max_iterations' },
    inOrder: true,
    taskInput: 'prompt',
  },
};

/** What is known of the notation that a plan was written in. */
export function traitsOf(notation: string | undefined): NotationTraits {
  return (ownValue(TRAITS, notation ?? '') as NotationTraits | undefined) ?? {};
}

/** What to do about a limit that was reached, in the words of the notation. */
export function limitHint(notation: string | undefined, limit: Limit, otherwise: string): string {
  const word = limitKey(notation, limit);
  return word === undefined ? otherwise : `raise ${word}, or ${otherwise}`;
}

/** What a limit is called in the notation; undefined: it has no key there. */
export function limitKey(notation: string | undefined, limit: Limit): string | undefined {
  const { limits } = traitsOf(notation);
  return limits === undefined ? limit : limits[limit];
}
