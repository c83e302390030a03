import type { InputInput } from '../plan/builder-input.js';
import type { BudgetInput } from '../plan/budget.js';
import type { SecurityInput } from '../plan/security.js';
import type { Declarations } from '../plan/declarations.js';
import type { SuperviseInput } from '../notations/graph/supervising.js';
import type { ReducerInput } from '../notations/graph/reducers.js';
import type { Invariant, InvariantPolicy } from '../runtime/invariants.js';

/** The part of a Standard Schema (standardschema.dev) that the types need, as zod, Valibot or ArkType make it. */
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

/** The state type that schemas describe. */
export type StateOfSchemas<Schemas extends StateSchemas> = {
  readonly [K in keyof Schemas]: Schemas[K] extends StateSchema<infer Output> ? Output : unknown;
};

/** Settings of a graph, without its state. */
export interface GraphSettings<S> extends Declarations {
  /** Name of the workflow. Default `graph`. */
  readonly name?: string;
  readonly description?: string;
  /** Inputs that are required or have a default. A key that functions read and no node writes is an input even if it is not listed. */
  readonly inputs?: readonly (InputInput & (string | { readonly channel?: never }))[];
  /** Conditions that must hold after every node. */
  readonly invariants?: readonly Invariant<S>[];
  /** What happens if an invariant is violated. Default `enforce`. */
  readonly policy?: InvariantPolicy;
  /** How many nodes may run one after another. Default: the longest path plus 100. */
  readonly maxSteps?: number;
  /** Number of nodes that may run at once. Default: no limit. */
  readonly concurrency?: number;
  /** The key whose value is the answer. Default: the key of the only exit. */
  readonly answerKey?: string;
  /**
   * Whether agents' work is reviewed before anything reads it. Applies to all agents, including those inside maps and other workflows,
   * unless they have a setting of their own.
   */
  readonly supervise?: SuperviseInput;
  /** Limits of a run: dollars, a text such as `200k-tokens, 20-calls`, or a budget. */
  readonly budget?: BudgetInput;
  /** Models that review agents' calls before they are made: `'paranoid'`, or `{ mode, scope, model }`. A node can only tighten it. */
  readonly security?: SecurityInput;
  /** The input that receives the task if the graph is used as an agent. Default `task`. */
  readonly taskParam?: string;
  /**
   * The state keys that a run returns, or schemas by key, which are checked at its end. Other keys are private: they are recorded and
   * appear in events, but not in the result. Default: all keys.
   */
  readonly output?: readonly string[] | StateSchemas;
  /** Whether the first exit reached ends the run. By default an exit ends only its own branch. */
  readonly firstExitWins?: boolean;
  /**
   * Name of the node that runs after all others have ended, in whatever way, but not while the run waits. It has no edges. It reads the
   * final state and how the others ended (`RunEnd`). Its failure degrades a run that succeeded and changes no other outcome.
   */
  readonly finally?: string;
}

/** A reducer for each key. */
export type ReducersOf<Keys extends PropertyKey> = { readonly [K in Keys]: ReducerInput };

/** Keys, or schemas by key. */
export type OutputOf<Keys extends string> = readonly Keys[] | { readonly [K in Keys]: StateSchema };
