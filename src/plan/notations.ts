import { ownValue } from '../base/json.js';

/** Limits of nodes and agents that a run can reach. */
export type Limit = 'maxItems' | 'maxTurns' | 'maxToolCalls';

/** What those who run plans and tell of them know of a notation. How its files are read is in `notations/registry.ts`. */
interface NotationTraits {
  /** The keys of limits in its files; a limit that is not here has none. Absent: they are called as in plans. */
  readonly limits?: Readonly<Partial<Record<Limit, string>>>;
  /** Steps stand in the order in which they run; those of a block are a plan of their own, a call without outputs. */
  readonly inOrder?: true;
  /** The input that takes the task of whoever runs the workflow. Default `task`. */
  readonly taskInput?: string;
}

const TRAITS: Readonly<Record<string, NotationTraits>> = {
  agentfile: { limits: {} },
  dag: { limits: {} },
  machine: { limits: { maxTurns: 'max_rounds', maxToolCalls: 'max_tool_calls_per_turn' }, taskInput: 'message' },
  pipeline: {
    limits: { maxItems: 'max_items', maxTurns: 'max_iterations' },
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
  const { limits } = traitsOf(notation);
  const word = limits === undefined ? limit : limits[limit];
  return word === undefined ? otherwise : `raise ${word}, or ${otherwise}`;
}
