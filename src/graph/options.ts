import type { InputInput } from '../plan/builder-input.js';
import type { BudgetInput } from '../plan/budget.js';
import type { SecurityInput } from '../plan/security.js';
import type { Declarations } from '../plan/declarations.js';
import type { SuperviseInput } from '../notations/graph/supervising.js';
import type { ReducerInput } from '../notations/graph/reducers.js';
import type { Invariant, InvariantPolicy } from '../runtime/invariants.js';

/** A Standard Schema (standardschema.dev), as far as types need it: what zod, Valibot or ArkType make. */
export interface StateSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, ...more: never[]) => unknown;
    readonly types?: { readonly output: Output } | undefined;
  };
}

/** Schemas of the state, by key. */
export type StateSchemas = Readonly<Record<string, StateSchema>>;

/** The state that schemas describe. */
export type StateOfSchemas<Schemas extends StateSchemas> = {
  readonly [K in keyof Schemas]: Schemas[K] extends StateSchema<infer Output> ? Output : unknown;
};

/** How a graph is made, beside its state. */
export interface GraphSettings<S> extends Declarations {
  /** Name of the workflow. Default `graph`. */
  readonly name?: string;
  readonly description?: string;
  /** Inputs that must be given, or that have a default. What functions read and no node gives is an input without being named here. */
  readonly inputs?: readonly (InputInput & (string | { readonly channel?: never }))[];
  /** What must hold after every node. */
  readonly invariants?: readonly Invariant<S>[];
  /** What happens when an invariant does not hold. Default `enforce`. */
  readonly policy?: InvariantPolicy;
  /** How many nodes may run one after another. Default: the longest path, and 100 more. */
  readonly maxSteps?: number;
  /** How many nodes may run at once. Default: no bound. */
  readonly concurrency?: number;
  /** The key whose value is the answer. Default: that of the only exit. */
  readonly answerKey?: string;
  /**
   * Whether what agents do is judged before anything sees it: all agents, also those inside of maps and other workflows, unless something else is said
   * of them.
   */
  readonly supervise?: SuperviseInput;
  /** What a run may spend: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  readonly budget?: BudgetInput;
  /** Which models look at the calls of its agents before they are made: `'paranoid'`, or `{ mode, scope, model }`. A node may only raise it. */
  readonly security?: SecurityInput;
  /** The input that takes the task when the graph is used as an agent. Default `task`. */
  readonly taskParam?: string;
  /**
   * What a run gives: keys of the state, or schemas by key, which are checked at its end. Other keys are private: they are recorded and told
   * in events, and not in the result. Default: all keys.
   */
  readonly output?: readonly string[] | StateSchemas;
  /** The first exit that is reached ends the run. Default: an exit ends its own branch. */
  readonly firstExitWins?: boolean;
  /**
   * Name of the node that runs when all others have ended, however they did, but not while the run waits. Nothing leads to it, and nothing follows it.
   * It sees the final state, and how the others ended (`RunEnd`). Its failure degrades a run that succeeded and changes no other outcome.
   */
  readonly finally?: string;
}

/** Reducers by key. */
export type ReducersOf<Keys extends PropertyKey> = { readonly [K in Keys]?: ReducerInput };

/** Keys, or schemas by key. */
export type OutputOf<Keys extends string> = readonly Keys[] | { readonly [K in Keys]: StateSchema };
