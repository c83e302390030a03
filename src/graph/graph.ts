import type { ReducerInput } from '../notations/graph/reducers.js';
import { GraphBuilder } from './builder.js';
import { checkSettings } from './check-settings.js';
import type { GraphSettings, OutputOf, ReducersOf, StateOfSchemas, StateSchemas } from './options.js';
import type { Graph } from './types.js';

/** All settings of {@link graph}, regardless of type parameters. */
type LooseSettings = GraphSettings<never> & {
  readonly state?: StateSchemas;
  readonly reducers?: Readonly<Record<string, ReducerInput | undefined>>;
};

/**
 * Begins a workflow in TypeScript. Declare the state by a type, `graph<State>()`, or by schemas, which are checked at run time; in a chain
 * of `.node` its type grows from the declared inputs.
 *
 * @throws SkeinError `SKEIN_USAGE` for unknown options, `SKEIN_DEFINITION` for a state that is not schemas by key
 * @example
 * const flow = graph<{ topic: string }>()
 *   .node('draft', ({ topic }) => `About ${topic}.`)
 *   .node('loud', ({ draft }) => draft.toUpperCase())
 *   .setEntry('draft');
 * console.log((await flow.run({ topic: 'looms' })).state.loud); // ABOUT LOOMS.
 */
export function graph<
  const Schemas extends StateSchemas,
  Reduced extends keyof Schemas & string = never,
  Out extends keyof Schemas & string = keyof Schemas & string,
>(
  options: GraphSettings<StateOfSchemas<Schemas>> & {
    readonly state: Schemas;
    readonly reducers?: { readonly [K in Reduced]: ReducerInput };
    readonly output?: OutputOf<Out>;
  },
): Graph<StateOfSchemas<Schemas>, Reduced, never, Out>;
export function graph<S extends object = Record<never, never>, Out extends string = string>(
  options: GraphSettings<Readonly<S>> & {
    readonly state?: never;
    readonly reducers?: ReducersOf<keyof S>;
    readonly output: OutputOf<Out>;
  },
): Graph<Readonly<S>, keyof S, never, Out>;
export function graph<S extends object, Reduced extends keyof S = keyof S>(
  options: GraphSettings<Readonly<S>> & { readonly state?: never; readonly reducers: ReducersOf<Reduced> },
): Graph<Readonly<S>, Reduced>;
export function graph<S extends object = Record<never, never>>(
  options?: GraphSettings<Readonly<S>> & { readonly state?: never; readonly reducers?: never },
): Graph<Readonly<S>>;
export function graph(options: LooseSettings = {}): unknown {
  checkSettings(options);
  const { name = 'graph', invariants = [], policy = 'enforce', taskParam = 'task', ...rest } = options;
  return new GraphBuilder({ ...rest, name }, { invariants, policy, taskParam });
}
