import type { DryRun, EdgeView, GraphNode, RouteView, StateKey } from '../notations/graph/inspect.js';
import type { MapOptions } from '../notations/graph/nodes/map-node.js';
import type { InnerWorkflow } from '../notations/graph/nodes/workflow-node.js';
import type { NodeSpec } from '../notations/graph/nodes/planned.js';
import type { Goto } from '../plan/goto.js';
import type { NodePolicies, RouteOptions } from '../notations/graph/policies.js';
import type { Problem } from '../base/problem.js';
import type { TaskStep } from '../plan/builder-input.js';
import type { Bindings, OnError, Plan } from '../plan/plan.js';
import type { AgentLike, AsAgentOptions, GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from './result.js';

/** What a node of this name must return: a value of the declared type, or anything if the state has no such key. */
type Result<S, N extends string> = S extends { readonly [K in N]?: infer Declared } ? Declared : unknown;

/** The state with the result of a node. Looking up the one key instead of scanning all keys keeps long chains quick to check. */
type With<S, N extends string, R> = S extends { readonly [K in N]: unknown } ? S : S & { readonly [K in N]: R };

/** What is read of a node that failed, where its failure is ignored: nothing, and its readers run all the same. */
type Lack<E> = E extends 'ignore' ? undefined : never;

/** `onError` by its own type, which says whether readers must expect a missing result. */
interface OnErrorOf<E> {
  readonly onError?: E | undefined;
}

type OnItemError = NonNullable<MapOptions['onItemError']>;

/** `onItemError` by its own type, which says whether the list may hold null for an item. */
interface OnItemErrorOf<F> {
  readonly onItemError?: F | undefined;
}

/** What the list of a map holds for an item that failed. */
type Hole<F> = F extends 'continue' ? null : never;

/** What a function returns: a value or a jump, at once or as a promise. */
type Given<R> = R | Goto<R | undefined> | PromiseLike<R | Goto<R | undefined>>;

/** The value in a function's return type. For a jump it is the update, if any. */
type Value<R> = Left<Awaited<R>>;
type Left<R> = R extends Goto<infer U> ? U : R;

/** The type of one contribution to a key with a reducer, as opposed to a whole value. */
type Contribution<T> = T extends readonly (infer Item)[] ? Item : T extends object ? Partial<T> : never;

/** The keys whose contributions differ from whole values: lists, and objects with required keys. */
export type ListOrObject<S> = {
  [K in keyof S]-?: Contribution<S[K]> extends NonNullable<S[K]>
    ? never
    : Record<never, never> extends NonNullable<S[K]>
      ? never
      : K;
}[keyof S];

/** The return type of a node of {@link Graph.addNode}: some state keys; undefined clears one. Keys in `Reduced` have a reducer and accept contributions. */
export type Update<S, Reduced = never> = {
  readonly [K in keyof S]?: (K extends Reduced ? S[K] | Contribution<S[K]> : S[K]) | undefined;
};

/** Refuses keys that are not in the state, in a returned value, promise or jump. */
type OnlyKeys<R, S> = [Strange<R, S>] extends [never]
  ? unknown
  : { readonly [K in Strange<R, S>]: Mistake<'the state has no such key'> };

/** The keys of an update that the state does not have. */
type Strange<R, S> =
  R extends Goto<infer U>
    ? Strange<U, S>
    : R extends PromiseLike<infer Later>
      ? Strange<Later, S>
      : R extends object
        ? Exclude<keyof R, Keys<S>>
        : never;

/** The keys of the state. If any text is a key, a computed key may be a number too. */
type Keys<S> = string extends keyof S ? PropertyKey : keyof S;

/** The part of the state that a run returns. */
type Told<S, Out extends string> = string extends Out ? S & object : Pick<S, Extract<keyof S, Out>>;

/** The name of a node: editors suggest those added so far; others may follow. */
type NodeName<Names extends string> = Names | (string & Record<never, never>);

/** A router's return value: the name of a node, a key of its map, `END`, or a list of those. */
type Answer = string | number | boolean | readonly (string | number | boolean)[];

/** Options of a node whose function names its inputs in its first parameter. */
export interface FunctionNodeOptions<S> extends NodePolicies<S> {
  /** The keys that the function reads, if its first parameter is not destructured. `[]`: none. */
  readonly inputs?: readonly (keyof S & string)[];
}

/** Options of a node that returns an update. */
export interface UpdateNodeOptions<S> extends NodePolicies<S> {
  /** The keys that the node may write. If given, a check before the run ensures that no parallel node writes them. */
  readonly writes?: readonly (keyof S & string)[];
}

/** Options of a node that is not a function: an agent, a tool, another workflow. */
export interface SpecNodeOptions<S> extends NodePolicies<S> {
  /** The key that receives the result, instead of the node's name. */
  readonly output?: keyof S & string;
}

/** Options of a node that runs once for each item of a list. */
export interface ItemOptions<S, K extends keyof S, I extends string>
  extends Omit<MapOptions, 'over' | 'item'>, Omit<NodePolicies<S>, 'goto'> {
  /** The state key that holds the list. */
  readonly over: K;
  /** The name of the item. Default `item`. */
  readonly item?: I;
}

/** Refuses a key that does not hold a list. An optional list and a value of unknown type are accepted. */
type OnlyList<T, K extends string> = unknown extends T
  ? unknown
  : NonNullable<T> extends readonly unknown[]
    ? unknown
    : { readonly over: Mistake<`the key '${K}' does not hold a list`> };

/** What compilers print where the code can't be right. No value has this type. */
interface Mistake<Text extends string> {
  readonly [MISTAKE]: Text;
}
declare const MISTAKE: unique symbol;

/** An item of a list. */
type ItemOf<T> = NonNullable<T> extends readonly (infer Item)[] ? Item : unknown;

/**
 * A workflow as a typed state graph. Nodes are functions. Those of `.node` name their inputs in their first parameter, and edges are
 * inferred; those of `.addNode` receive the state and return an update, and edges are declared. Both may be mixed. `S` is the type of the
 * state; in a chain it grows with each node. `Reduced` are the keys with a reducer, `Names` the nodes added so far, `Out` the keys that a
 * run returns; any text: all.
 *
 * Of the forms of a method the one that takes a function of the state stands last, because compilers explain mistakes by the last one.
 */
export interface Graph<
  S extends object,
  Reduced extends PropertyKey = never,
  Names extends string = never,
  Out extends string = string,
> {
  /** Adds a function under its own name. Minifiers change names of functions: pass a name if the code is minified. */
  node(
    fn: (state: S, step: TaskStep) => unknown,
    options?: FunctionNodeOptions<S> & { readonly name?: string },
  ): Graph<S, Reduced, Names, Out>;
  /** Adds a node that is an agent, a tool or another workflow. */
  node<const N extends string, R extends Result<S, N>, E extends OnError = 'fail'>(
    name: N,
    spec: NodeSpec<R, string>,
    options?: SpecNodeOptions<S> & OnErrorOf<E>,
  ): Graph<With<S, N, R | Lack<E>>, Reduced, Names | N, Out>;
  /**
   * Adds a node whose result is kept under its name. Its first parameter lists its inputs, `({ search, query }) => ...`: the name of a node
   * refers to that node's result, any other name to an input of the workflow.
   */
  node<const N extends string, R extends Given<Result<S, N>>, E extends OnError = 'fail'>(
    name: N,
    fn: (state: S, step: TaskStep) => R,
    options?: FunctionNodeOptions<S> & OnErrorOf<E>,
  ): Graph<With<S, N, Value<R> | Lack<E>>, Reduced, Names | N, Out>;
  /**
   * Adds a node that runs a workflow or an agent for each item of a list. Its result is the list of answers, in the order of the items. An
   * agent takes an item as its task: `item: 'task'`.
   */
  map<
    const N extends string,
    K extends keyof S & string,
    R = unknown,
    const I extends string = 'item',
    E extends OnError = 'fail',
    F extends OnItemError = 'fail',
  >(
    name: N,
    options: ItemOptions<S, K, I> & OnlyList<S[K], K> & OnErrorOf<E> & OnItemErrorOf<F>,
    workflow: InnerWorkflow & { readonly answerType?: R },
  ): Graph<With<S, N, (R | Hole<F>)[] | Lack<E>>, Reduced, Names | N, Out>;
  /**
   * Adds a node that calls a function for each item of a list, with bounded concurrency. The function names its inputs: the item, called
   * `item` by default, and any other state keys. The node's result is the list of results, in the order of the items.
   */
  map<
    const N extends string,
    K extends keyof S & string,
    R,
    const I extends string = 'item',
    E extends OnError = 'fail',
    F extends OnItemError = 'fail',
  >(
    name: N,
    options: ItemOptions<S, K, I> & OnlyList<S[K], K> & OnErrorOf<E> & OnItemErrorOf<F>,
    fn: (state: S & { readonly [P in I]: ItemOf<S[K]> }, step: TaskStep) => R | PromiseLike<R>,
  ): Graph<With<S, N, (R | Hole<F>)[] | Lack<E>>, Reduced, Names | N, Out>;
  /** Adds a choice after a node. The function names its inputs, as in {@link Graph.node}. */
  route(after: NodeName<Names>, router: (state: S) => Answer | PromiseLike<Answer>, options?: RouteOptions): this;

  /** Adds a node that is an agent, a tool or another workflow. */
  addNode<const N extends string>(
    name: N,
    spec: NodeSpec<unknown, keyof S & string>,
    options?: SpecNodeOptions<S>,
  ): Graph<S, Reduced, Names | N, Out>;
  /** Adds a node that receives the state and returns an update: an object with some state keys, or nothing. */
  addNode<const N extends string, R extends Given<Update<S, Reduced> | null | undefined | void>>(
    name: N,
    fn: (state: S, step: TaskStep) => R & OnlyKeys<R, S>,
    options?: UpdateNodeOptions<S>,
  ): Graph<S, Reduced, Names | N, Out>;
  /** Makes `to` run after `from`. The nodes may be added later. */
  addEdge(from: NodeName<Names>, to: NodeName<Names>): this;
  /** Lets the router choose what runs after `from`: by name, or by a key of the map. */
  addConditionalEdge(
    from: NodeName<Names>,
    router: (state: S) => Answer | PromiseLike<Answer>,
    map?: Readonly<Record<string, string>>,
  ): this;
  /** Names the node with which a run starts. The last call wins. */
  setEntry(name: NodeName<Names>): this;
  /** Names a node that ends its branch. May be called for several nodes. Without it, nodes without outgoing edges are exits. */
  setExit(name: NodeName<Names>): this;

  /** A copy of the nodes, in the order in which they were added. */
  readonly nodes: Map<string, GraphNode>;
  /** A copy of the edges that always fire, declared and inferred. */
  readonly edges: EdgeView[];
  /** A copy of the choices. */
  readonly conditionalEdges: RouteView[];
  /** A copy of the nodes declared as exits. */
  readonly exits: string[];
  /** The content of the state: the declared keys, or the nodes and inputs found. */
  readonly derivedStateSchema: Record<string, StateKey>;
  /** Figures of the last run; null before the first. */
  readonly metrics: GraphMetrics | null;

  /**
   * Checks the graph and makes its plan. Returns the same object until the graph changes.
   *
   * @throws SkeinError `SKEIN_DEFINITION` with all problems in `details.problems`
   */
  compile(): CompiledGraph<S, Told<S, Out>>;
  /** Compiles if necessary, and runs. Failures inside nodes never throw: they are in the result. */
  run(inputs?: Partial<S>, options?: GraphRunOptions<S>): Promise<GraphResult<Told<S, Out>>>;
  /** Runs, and returns the final state or throws the reason of the failure. */
  runOrThrow(inputs?: Partial<S>, options?: GraphRunOptions<S>): Promise<Partial<Told<S, Out>>>;
  /** Runs, and yields the events as they happen. Leaving the loop cancels the run. */
  stream(inputs?: Partial<S>, options?: GraphRunOptions<S>): AsyncGenerator<GraphEvent, GraphResult<Told<S, Out>>>;
  /** Returns what would run, level by level, and which inputs are required. Runs nothing. */
  dryRun(inputs?: Partial<S>): DryRun;
  /** Returns the graph as a Mermaid flowchart. */
  toMermaid(): string;
  /** Returns the graph in the DOT language of Graphviz. */
  toDot(): string;
  /** Returns the graph as something that accepts a task and returns an answer. */
  asAgent(options?: AsAgentOptions): AgentLike;
}

/** A checked graph: a plan with its functions. It can't be changed, and runs any number of times, also concurrently. */
export interface CompiledGraph<S extends object = Record<string, unknown>, R extends object = S> {
  readonly plan: Plan;
  readonly bindings: Bindings;
  /** Warnings of the checks. */
  readonly problems: readonly Problem[];
  /** The key whose value is the answer of a run. */
  readonly answerKey: string | undefined;
  /** Figures of the last run; null before the first. */
  readonly metrics: GraphMetrics | null;
  /** Runs. Failures inside nodes never throw: they are in the result. */
  run(inputs?: Partial<S>, options?: GraphRunOptions<S>): Promise<GraphResult<R>>;
  /** Runs, and returns the final state or throws the reason of the failure. */
  runOrThrow(inputs?: Partial<S>, options?: GraphRunOptions<S>): Promise<Partial<R>>;
  /** Runs, and yields the events as they happen. Leaving the loop cancels the run. */
  stream(inputs?: Partial<S>, options?: GraphRunOptions<S>): AsyncGenerator<GraphEvent, GraphResult<R>>;
  /** Returns the graph as something that accepts a task and returns an answer. */
  asAgent(options?: AsAgentOptions): AgentLike;
}
