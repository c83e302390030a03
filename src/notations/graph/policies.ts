import type { ProbeInput, StateOf, StateTest } from '../../plan/builder-input.js';
import { budgetData, type BudgetInput } from '../../plan/budget.js';
import { securityData, type SecurityInput } from '../../plan/security.js';
import { boundConditions } from '../../plan/made-of.js';
import type { Condition } from '../../lang/values.js';
import type { OptionForms } from '../../base/options.js';
import { NODE_OPTION_NAMES } from '../../plan/fields.js';
import type { NodeBase, NodeOptions } from '../../plan/plan.js';
import type { RetryInput } from '../../plan/retry-input.js';
import type { SuperviseInput } from './supervising.js';

/** Options that need conversion to plan data. */
const MADE: ReadonlySet<string> = new Set(['when', 'retry', 'supervise', 'budget', 'security']);

/** Returns the options of a node as plan data, without those that are undefined or need bindings. */
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

/** Converts conditions to plan data. Their functions go into the bindings. */
export function conditionsOf(
  name: string,
  when: NodePolicies['when'],
  bindings: Record<string, unknown>,
): readonly Condition[] | undefined {
  return when === undefined ? undefined : boundConditions([when].flat(), `when:${name}`, bindings);
}

/** A condition of a node: a function of the state, or plan data. */
export type WhenInput<S> = StateTest<S> | Condition;

/** Policies that any node of a graph may have. */
export interface NodePolicies<S = StateOf> extends Omit<
  NodeOptions,
  'when' | 'retry' | 'supervise' | 'budget' | 'security'
> {
  /** Conditions that must all hold; otherwise the node is skipped. */
  readonly when?: WhenInput<S> | readonly WhenInput<S>[];
  /** Retries after a temporary failure: a number, or changes to the default of 2 retries with growing delays from 1 s. */
  readonly retry?: RetryInput;
  /** Whether the result is judged before anything sees it. Default: agents as set for the graph, other nodes not. */
  readonly supervise?: SuperviseInput;
  /** What all visits of the node, and all inside it, may spend: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  readonly budget?: BudgetInput;
  /** Which models review the calls of the node and of all inside it: `'paranoid'`, or `{ mode, scope, model }`. */
  readonly security?: SecurityInput;
  /**
   * For a function with `effect: 'once'`: finds out what became of an execution that a crash interrupted, before a person is asked. Returns
   * `{ done: true, result }`, `{ done: false }`, or undefined if it can't tell.
   */
  readonly probe?: ProbeInput<S>;
  /** The nodes it may jump to by returning `goto(name)`. */
  readonly goto?: readonly string[];
  /** Nodes of the enclosing graph it may jump to by `goto(name, update, { parent: true })`. */
  readonly gotoParent?: readonly string[];
}

export interface RouteOptions {
  /** The nodes it chooses among. Undefined: any node of the graph. */
  readonly targets?: readonly string[];
  /** Maps answers to nodes. Undefined: answers are names of nodes. */
  readonly map?: Readonly<Record<string, string>>;
  /** The keys the function reads, if its first parameter is not destructured. */
  readonly inputs?: readonly string[];
}

/** What is read of a node before its plan is checked, which says more of all others. */
export const READ_OPTIONS: OptionForms<
  Pick<NodePolicies, 'when' | 'onError' | 'onMaxVisits' | 'goto' | 'gotoParent'> &
    RouteOptions & { readonly writes?: readonly string[]; readonly output?: string }
> = {
  when: 'a function, or an object, or a list',
  onError: 'text, or an object',
  onMaxVisits: 'text, or an object',
  goto: 'a list of texts',
  gotoParent: 'a list of texts',
  inputs: 'a list of texts',
  writes: 'a list of texts',
  output: 'text',
  targets: 'a list of texts',
  map: 'an object',
};

const POLICY_NAMES = [...NODE_OPTION_NAMES, 'goto', 'gotoParent', 'probe'] as const;

export const OPTION_NAMES = {
  function: [...POLICY_NAMES, 'inputs'],
  update: [...POLICY_NAMES, 'writes'],
  spec: [...POLICY_NAMES, 'output'],
  route: ['targets', 'map', 'inputs'],
} as const;
