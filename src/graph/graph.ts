import { SkeinError } from '../base/errors.js';
import { refusal } from '../base/problem.js';
import { checkKinds, checkOptions, refuseUnknown, type OptionForms } from '../base/options.js';
import type { Invariant } from '../runtime/invariants.js';
import type { ReducerInput } from '../notations/graph/reducers.js';
import { readSupervise } from '../notations/graph/supervising.js';
import { GraphBuilder } from './builder.js';
import type { GraphSettings, OutputOf, ReducersOf, StateOfSchemas, StateSchemas } from './options.js';
import type { Graph, ListOrObject } from './types.js';

/** All settings of {@link graph}, regardless of type parameters. */
type LooseSettings = GraphSettings<never> & {
  readonly state?: StateSchemas;
  readonly reducers?: Readonly<Record<string, ReducerInput | undefined>>;
};

/**
 * Begins a workflow in TypeScript. Declare the state by a type, `graph<State>()`, or by schemas, which are checked at run time; in a chain
 * of `.node` its type grows from the declared inputs. With `graph<State>`, `reducers` has one for each list and object of the state;
 * `graph<State, 'log'>` names the keys that have one instead, and all others take whole values.
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
    readonly reducers?: never;
    readonly output: OutputOf<Out>;
  },
): Graph<Readonly<S>, never, never, Out>;
export function graph<S extends object = Record<never, never>>(
  options?: GraphSettings<Readonly<S>> & { readonly state?: never; readonly reducers?: never },
): Graph<Readonly<S>>;
export function graph<S extends object = Record<never, never>, Reduced extends keyof S = ListOrObject<S>>(
  options: GraphSettings<Readonly<S>> & {
    readonly state?: never;
    readonly reducers: ReducersOf<Reduced> & { readonly [K in keyof S]?: ReducerInput };
  },
): Graph<Readonly<S>, Reduced>;
export function graph(options: LooseSettings = {}): unknown {
  checkSettings(options);
  const { name = 'graph', invariants = [], policy = 'enforce', taskParam = 'task', ...rest } = options;
  return new GraphBuilder({ ...rest, name }, { invariants, policy, taskParam });
}

const FORMS: OptionForms<LooseSettings> = {
  name: 'text',
  description: 'text',
  state: 'an object',
  inputs: 'a list',
  reducers: 'an object',
  invariants: 'any',
  policy: 'any',
  maxSteps: 'a number',
  concurrency: 'a number',
  answerKey: 'text',
  taskParam: 'text',
  supervise: 'true or false, or an object',
  budget: 'text, or a number, or an object',
  security: 'text, or an object',
  hosts: 'a list of texts',
  commands: 'a list of lists',
  sends: 'a list',
  firstExitWins: 'true or false',
  finally: 'text',
  output: 'a list of texts, or an object',
};

const POLICIES: readonly unknown[] = ['ignore', 'observe', 'enforce', 'quickEnforce', undefined];

/**
 * Checks what types can't check in untyped code: unknown options, a state that is not schemas by key, invariants that watch over nothing.
 *
 * @throws SkeinError `SKEIN_USAGE`, `SKEIN_DEFINITION`
 */
function checkSettings(settings: object & Pick<GraphSettings<never>, 'supervise'>): void {
  if (isSchema(settings)) {
    throw usage('a graph takes options, not a schema', 'for a schema of zod: graph({ state: schema.shape })');
  }
  refuseUnknown('a graph', settings, Object.keys(FORMS));
  const { state, output, invariants = [], policy, finally: last } = settings as Record<string, unknown>;
  if (last !== undefined && typeof last !== 'string')
    throw usage('the option "finally" is the name of a node', "finally: 'cleanup', and .node('cleanup', ...)");
  if (state !== undefined) checkState(state);
  if (output !== undefined) checkOutput(output);
  readSupervise('the graph', settings.supervise);
  if (!Array.isArray(invariants)) throw usage('the option "invariants" is a list', INVARIANT);
  checkPolicy(policy);
  checkKinds('a graph', settings, FORMS);
  for (const invariant of invariants as unknown[]) {
    const { predicate, policy: own } = (invariant ?? {}) as Record<string, unknown>;
    if (typeof predicate !== 'function') throw usage('an invariant needs a predicate', INVARIANT);
    checkOptions<Invariant>('an invariant', invariant, { predicate: 'a function', message: 'text', policy: 'any' });
    checkPolicy(own);
  }
}

const INVARIANT =
  "invariants: [{ predicate: ({ state }) => state.balance >= 0, message: 'the balance stays positive' }]";

function checkPolicy(policy: unknown): void {
  if (POLICIES.includes(policy)) return;
  throw usage(`there is no policy ${quoted(policy)}`, 'policies are: ignore, observe, enforce, quickEnforce');
}

function checkState(state: unknown): void {
  if (isSchema(state)) {
    const hint = 'for a schema of zod: state: schema.shape';
    throw refusal('bad-schema', 'the state is given as one schema, and needs one for each of its keys', hint);
  }
  if (typeof state !== 'object' || state === null) throw refusal('bad-schema', 'the state is schemas by key', HINT);
  for (const [key, schema] of Object.entries(state)) {
    if (!isSchema(schema))
      throw refusal('bad-schema', `the value for the key ${quoted(key)} is not a valid schema`, HINT);
  }
}

function checkOutput(output: unknown): void {
  const hint = "name its keys, { output: ['answer'] }, or give a schema for each, { output: { answer: z.string() } }";
  if (Array.isArray(output) ? output.every((key) => typeof key === 'string') : isSchemas(output)) return;
  throw refusal('bad-schema', 'the output is neither keys of the state nor schemas by key', hint);
}

function isSchemas(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isSchema(value) && Object.values(value).every(isSchema);
}

const HINT = 'a schema is a Standard Schema, as zod, Valibot and ArkType make them';

function isSchema(value: unknown): boolean {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

function quoted(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function usage(message: string, hint: string): SkeinError {
  return new SkeinError('SKEIN_USAGE', message, { hint });
}
