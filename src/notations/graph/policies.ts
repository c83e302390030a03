import type { StateOf, StateTest } from '../../plan/builder-input.js';
import type { BudgetInput } from '../../plan/budget.js';
import { budgetData } from '../../plan/budget.js';
import { securityData } from '../../plan/security.js';
import type { SecurityInput } from '../../plan/security.js';
import { boundConditions } from '../../plan/made-of.js';
import type { Condition } from '../../lang/values.js';
import { NODE_OPTION_NAMES } from '../../plan/fields.js';
import type { NodeBase, NodeOptions } from '../../plan/plan.js';
import type { RetryInput } from '../../plan/retry-input.js';
import type { SuperviseInput } from './supervising.js';

/** Options that are made into plan data. */
const MADE: ReadonlySet<string> = new Set(['when', 'retry', 'supervise', 'budget', 'security']);

/** The options of a node that are plan data as they are. What was not said is absent. */
export function policiesOf(options: NodePolicies): Partial<NodeBase> {
  const said = NODE_OPTION_NAMES.flatMap((name) => {
    const value = options[name];
    return MADE.has(name) || value === undefined ? [] : [[name, value] as const];
  });
  const { budget, security } = options;
  return {
    ...Object.fromEntries(said),
    ...(budget === undefined ? {} : { budget: budgetData(budget) }),
    ...(security === undefined ? {} : { security: securityData(security) }),
  };
}

/** Conditions as plan data; their functions go to the bindings. */
export function conditionsOf(
  name: string,
  when: NodePolicies['when'],
  bindings: Record<string, unknown>,
): readonly Condition[] | undefined {
  return when === undefined ? undefined : boundConditions([when].flat(), `when:${name}`, bindings);
}

/** A condition of a node: a function of the state, or plan data. */
export type WhenInput<S> = StateTest<S> | Condition;

/** What any node of a graph may have. */
export interface NodePolicies<S = StateOf> extends Omit<
  NodeOptions,
  'when' | 'retry' | 'supervise' | 'budget' | 'security'
> {
  /** All must hold, else the node is skipped. */
  readonly when?: WhenInput<S> | readonly WhenInput<S>[];
  /** Further attempts after a failure that may go away: a number, or what is not as it is by default: 2 of them, with growing delays from 1 s on. */
  readonly retry?: RetryInput;
  /** Whether what it did is judged before anything sees it. Default: agents as the graph says, anything else is not. */
  readonly supervise?: SuperviseInput;
  /** What all visits of it, and everything below it, may spend: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  readonly budget?: BudgetInput;
  /** Which models look at the calls that it makes, and what is inside of it: `'paranoid'`, or `{ mode, scope, model }`. */
  readonly security?: SecurityInput;
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

const POLICY_NAMES = [...NODE_OPTION_NAMES, 'goto', 'gotoParent'] as const;

/** The options that there are, by what is added. */
export const OPTION_NAMES = {
  function: [...POLICY_NAMES, 'inputs'],
  update: [...POLICY_NAMES, 'writes'],
  spec: [...POLICY_NAMES, 'output'],
  route: ['targets', 'map', 'inputs'],
} as const;
