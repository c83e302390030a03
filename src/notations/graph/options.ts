import type { StateOf, StateTest } from '../../plan/builder-input.js';
import type { Condition } from '../../lang/values.js';
import type { Join, NodeBase, OnError } from '../../plan/plan.js';
import type { RetryInput } from '../../plan/retry-input.js';

/** A condition of a node: a function of the state, or plan data. */
export type WhenInput<S> = StateTest<S> | Condition;

/** What any node of a graph may have. */
export interface NodePolicies<S = StateOf> {
  /** What drawings show beside the name. */
  readonly label?: string;
  /** When it runs, by what comes along the edges that lead to it. Default `all`. */
  readonly join?: Join;
  /** All must hold, else the node is skipped. */
  readonly when?: WhenInput<S> | readonly WhenInput<S>[];
  /** Further attempts after a failure that may go away: a number, or what is not as it is by default: 2 of them, with growing delays from 1 s on. */
  readonly retry?: RetryInput;
  /** Per attempt, in milliseconds. */
  readonly timeoutMs?: number;
  /** What happens when it fails. Default: the run fails. */
  readonly onError?: OnError;
  /** How often it may run in one run. */
  readonly maxVisits?: number;
  /** What happens at that cap. Default: the run fails. */
  readonly onMaxVisits?: NodeBase['onMaxVisits'];
  /** How a crash in the middle is treated when the run is recorded. */
  readonly effect?: NodeBase['effect'];
  /** Change it when the behaviour of the function changes in a way that its source does not show. */
  readonly version?: string;
  /** The nodes to which it may jump by returning `goto(name)`. */
  readonly goto?: readonly string[];
  /** Nodes of the graph around to which it may jump by `goto(name, update, { parent: true })`. */
  readonly gotoParent?: readonly string[];
}

/** What a choice may have. */
export interface RouteOptions {
  /** The nodes among which it chooses. Undeclared: any node of the graph. */
  readonly targets?: readonly string[];
  /** What an answer means: answer -> node. Undeclared: answers are names of nodes. */
  readonly map?: Readonly<Record<string, string>>;
  /** What the function reads, when its first parameter is not destructured. */
  readonly inputs?: readonly string[];
}

const POLICY_NAMES = [
  'label',
  'join',
  'when',
  'retry',
  'timeoutMs',
  'onError',
  'maxVisits',
  'onMaxVisits',
  'effect',
  'version',
  'goto',
  'gotoParent',
] as const satisfies readonly (keyof NodePolicies)[];

/** The options that there are, by what is added. */
export const OPTION_NAMES = {
  function: [...POLICY_NAMES, 'inputs'],
  update: [...POLICY_NAMES, 'writes'],
  spec: [...POLICY_NAMES, 'output'],
  route: ['targets', 'map', 'inputs'],
} as const;
