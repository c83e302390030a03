import type { DryRun, EdgeView, GraphNode, RouteView, StateKey } from '../notations/graph/inspect.js';
import type { MapOptions } from '../notations/graph/nodes/map-node.js';
import type { InnerWorkflow } from '../notations/graph/nodes/workflow-node.js';
import type { NodeSpec } from '../notations/graph/nodes/planned.js';
import type { Goto } from '../plan/goto.js';
import type { NodePolicies, RouteOptions } from '../notations/graph/policies.js';
import type { Problem } from '../base/problem.js';
import type { TaskStep } from '../plan/builder-input.js';
import type { Bindings, Plan } from '../plan/plan.js';
import type { AgentLike, AsAgentOptions, GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from './result.js';

/** What a node of this name must give: a value of the declared type, or anything when the state has no such key. */
type Result<S, N extends string> = S extends { readonly [K in N]?: infer Declared } ? Declared : unknown;

/** The state with the result of a node. To look for the one key, and not for it among all keys, keeps long chains quick to check. */
type With<S, N extends string, R> = S extends { readonly [K in N]: unknown } ? S : S & { readonly [K in N]: R };

/** What a function gives back: at once or later, or a jump. */
type Given<R> = R | Goto<R | undefined> | PromiseLike<R | Goto<R | undefined>>;

/** The value in what a function gives: that of a jump is its update, if it has one. */
type Value<R> = Left<Awaited<R>>;
type Left<R> = R extends Goto<infer U> ? U : R;

/** What one contribution to a key with a reducer may be, beside a whole value. */
type Contribution<T> = T extends readonly (infer Item)[] ? Item : T extends object ? Partial<T> : never;

/** What a node of {@link Graph.addNode} returns: some keys of the state; undefined clears one. `Reduced` are keys with a reducer, which take contributions. */
export type Update<S, Reduced = never> = {
  readonly [K in keyof S]?: (K extends Reduced ? S[K] | Contribution<S[K]> : S[K]) | undefined;
};

/** Refuses what is not a key of the state, in what a function gives at once, later or with a jump. */
type OnlyKeys<R, S> = [Strange<R, S>] extends [never] ? unknown : { readonly [K in Strange<R, S>]: never };

/** The keys of an update that the state does not have. */
type Strange<R, S> =
  R extends Goto<infer U>
    ? Strange<U, S>
    : R extends PromiseLike<infer Later>
      ? Strange<Later, S>
      : R extends object
        ? Exclude<keyof R, Keys<S>>
        : never;

/** The keys of the state; a computed key is a number too, where any text is one. */
type Keys<S> = string extends keyof S ? PropertyKey : keyof S;

/** What a run gives of the state. */
type Told<S, Out extends string> = string extends Out ? S & object : Pick<S, Extract<keyof S, Out>>;

/** The name of a node: editors offer those that were added so far; others may follow. */
type NodeName<Names extends string> = Names | (string & Record<never, never>);

/** What a router answers: the name of a node, a key of its map, `END`, or a list of those. */
type Answer = string | number | boolean | readonly (string | number | boolean)[];

/** Options of a node whose function names what it reads. */
export interface FunctionNodeOptions<S> extends NodePolicies<S> {
  /** What it reads, for a function whose first parameter is not destructured. `[]`: nothing. */
  readonly inputs?: readonly (keyof S & string)[];
}

/** Options of a node that returns an update. */
export interface UpdateNodeOptions<S> extends NodePolicies<S> {
  /** The keys that it may write. Said, it is checked before a run that no parallel node writes them too. */
  readonly writes?: readonly (keyof S & string)[];
}

/** Options of a node that is made by something else than a function: an agent, a tool, another workflow. */
export interface SpecNodeOptions<S> extends NodePolicies<S> {
  /** The key that takes its result, in place of the one named like the node. */
  readonly output?: keyof S & string;
}

/** Options of a node that does the same for each item of a list. */
export interface ItemOptions<S, K extends keyof S, I extends string>
  extends Omit<MapOptions, 'over' | 'item'>, Omit<NodePolicies<S>, 'goto'> {
  /** The key of the state that holds the list. */
  readonly over: K;
  /** What the item is called. Default `item`. */
  readonly item?: I;
}

/** Refuses a value that is not a list. A list that may be absent is one, and so may be what has no known type. */
type OnlyList<T> = unknown extends T
  ? unknown
  : NonNullable<T> extends readonly unknown[]
    ? unknown
    : { readonly over: never };

/** An item of a list. */
type ItemOf<T> = NonNullable<T> extends readonly (infer Item)[] ? Item : unknown;

/**
 * A workflow as a typed state graph. Nodes are functions: those of `.node` name what they need in their first parameter, and edges
 * follow from it; those of `.addNode` take the state and return an update, and edges are declared. Both may be mixed.
 * `S` is the type of the state; in a chain it grows with each node. `Reduced` are the keys with a reducer,
 * `Names` the nodes that were added so far, `Out` the keys that a run gives; any text: all.
 */
export interface Graph<
  S extends object,
  Reduced extends PropertyKey = never,
  Names extends string = never,
  Out extends string = string,
> {
  /**
   * Adds a node whose result is kept under its name. What it reads stands in its first parameter, `({ search, query }) => ...`: the name of
   * a node is what that node gave, any other name is an input of the workflow.
   */
  node<const N extends string, R extends Given<Result<S, N>>>(
    name: N,
    fn: (state: S, step: TaskStep) => R,
    options?: FunctionNodeOptions<S>,
  ): Graph<With<S, N, Value<R>>, Reduced, Names | N, Out>;
  /** Adds a node that is an agent, a tool or another workflow. */
  node<const N extends string, R extends Result<S, N>>(
    name: N,
    spec: NodeSpec<R, string>,
    options?: SpecNodeOptions<S>,
  ): Graph<With<S, N, R>, Reduced, Names | N, Out>;
  /** Adds a function under its own name. Minifiers change names of functions: give the name where code is minified. */
  node(
    fn: (state: S, step: TaskStep) => unknown,
    options?: FunctionNodeOptions<S> & { readonly name?: string },
  ): Graph<S, Reduced, Names, Out>;
  /**
   * Adds a node that calls a function for each item of a list, at most so many at once. The function names what it reads: the item, called
   * `item` unless it is said otherwise, and anything else of the state. The results, in the order of the items, are the result of the node.
   */
  map<const N extends string, K extends keyof S & string, R, const I extends string = 'item'>(
    name: N,
    options: ItemOptions<S, K, I> & OnlyList<S[K]>,
    fn: (state: S & { readonly [P in I]: ItemOf<S[K]> }, step: TaskStep) => R | PromiseLike<R>,
  ): Graph<With<S, N, R[]>, Reduced, Names | N, Out>;
  /** Adds a node that runs a workflow for each item of a list. Its answers, in the order of the items, are the result of the node. */
  map<const N extends string>(
    name: N,
    options: ItemOptions<S, keyof S & string, string>,
    workflow: InnerWorkflow,
  ): Graph<With<S, N, unknown[]>, Reduced, Names | N, Out>;
  /** Adds a choice after a node. The function names what it reads, like one of {@link Graph.node}. */
  route(after: NodeName<Names>, router: (state: S) => Answer | PromiseLike<Answer>, options?: RouteOptions): this;

  /** Adds a node that gets the state and returns an update: an object with some of its keys, or nothing. */
  addNode<const N extends string, R extends Given<Update<S, Reduced> | null | undefined | void>>(
    name: N,
    fn: (state: S, step: TaskStep) => R & OnlyKeys<R, S>,
    options?: UpdateNodeOptions<S>,
  ): Graph<S, Reduced, Names | N, Out>;
  /** Adds a node that is an agent, a tool or another workflow. */
  addNode<const N extends string>(
    name: N,
    spec: NodeSpec<unknown, keyof S & string>,
    options?: SpecNodeOptions<S>,
  ): Graph<S, Reduced, Names | N, Out>;
  /** `to` runs after `from`. The nodes may be added later. */
  addEdge(from: NodeName<Names>, to: NodeName<Names>): this;
  /** After `from` the router chooses what runs next: by name, or by a key of the map. */
  addConditionalEdge(
    from: NodeName<Names>,
    router: (state: S) => Answer | PromiseLike<Answer>,
    map?: Readonly<Record<string, string>>,
  ): this;
  /** Names the node with which a run starts. Said twice, the last one counts. */
  setEntry(name: NodeName<Names>): this;
  /** Names a node that ends its branch. May be said for several nodes. Without it, nodes without a way out are exits. */
  setExit(name: NodeName<Names>): this;

  /** The nodes, in the order in which they were added: a copy. */
  readonly nodes: Map<string, GraphNode>;
  /** Edges that always fire, declared and inferred: a copy. */
  readonly edges: EdgeView[];
  /** The choices: a copy. */
  readonly conditionalEdges: RouteView[];
  /** Nodes that were declared as exits: a copy. */
  readonly exits: string[];
  /** What the state holds: the declared keys, or the nodes and inputs that were found. */
  readonly derivedStateSchema: Record<string, StateKey>;
  /** Figures of the last run; null before one. */
  readonly metrics: GraphMetrics | null;

  /**
   * Checks the graph and makes its plan. The same object until the graph is changed.
   *
   * @throws SkeinError `SKEIN_DEFINITION` with all problems in `details.problems`
   */
  compile(): CompiledGraph<S, Told<S, Out>>;
  /** Compiles if necessary, and runs. What happens inside of nodes never throws: it is in the result. */
  run(inputs?: Partial<S>, options?: GraphRunOptions): Promise<GraphResult<Told<S, Out>>>;
  /** Runs, and gives the final state or throws what made the run fail. */
  runOrThrow(inputs?: Partial<S>, options?: GraphRunOptions): Promise<Partial<Told<S, Out>>>;
  /** Runs, and gives the events as they happen. Leaving the loop cancels the run. */
  stream(inputs?: Partial<S>, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult<Told<S, Out>>>;
  /** What would run, level by level, and what must be given. Runs nothing. */
  dryRun(inputs?: Partial<S>): DryRun;
  /** The graph as a Mermaid flowchart. */
  toMermaid(): string;
  /** The graph in the DOT language of Graphviz. */
  toDot(): string;
  /** The graph as something that takes a task and gives an answer. */
  asAgent(options?: AsAgentOptions): AgentLike;
}

/** A graph that was checked: a plan with its functions. It can't be changed, and runs any number of times, also at once. */
export interface CompiledGraph<S extends object = Record<string, unknown>, R extends object = S> {
  readonly plan: Plan;
  readonly bindings: Bindings;
  /** Warnings that the checks gave. */
  readonly problems: readonly Problem[];
  /** The key whose value is the answer of a run. */
  readonly answerKey: string | undefined;
  /** Figures of the last run; null before one. */
  readonly metrics: GraphMetrics | null;
  /** Runs. What happens inside of nodes never throws: it is in the result. */
  run(inputs?: Partial<S>, options?: GraphRunOptions): Promise<GraphResult<R>>;
  /** Runs, and gives the final state or throws what made the run fail. */
  runOrThrow(inputs?: Partial<S>, options?: GraphRunOptions): Promise<Partial<R>>;
  /** Runs, and gives the events as they happen. Leaving the loop cancels the run. */
  stream(inputs?: Partial<S>, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult<R>>;
  /** The graph as something that takes a task and gives an answer. */
  asAgent(options?: AsAgentOptions): AgentLike;
}
