import { definitionError, hasErrors, type Problem } from '../base/problem.js';
import { buildGraph, type BuiltGraph } from '../notations/graph/build.js';
import { GraphDraft, type DraftOptions, type DraftSettings, type NodeFunction } from '../notations/graph/draft.js';
import {
  endsOf,
  draw,
  dryRunOf,
  edgeViews,
  nodeViews,
  routeViews,
  stateKeys,
  type DryRun,
  type EdgeView,
  type GraphEnds,
  type GraphNode,
  type RouteView,
  type StateKey,
} from '../notations/graph/inspect.js';
import { MAP_OPTION_NAMES, mapNode, type MapOptions } from '../notations/graph/nodes/map-node.js';
import type { InnerWorkflow } from '../notations/graph/nodes/workflow-node.js';
import type { RouteOptions } from '../notations/graph/policies.js';
import type { Bindings, Plan } from '../plan/plan.js';
import { graphAsAgent } from './as-agent.js';
import { runGraph, runGraphOrThrow, streamMeasured } from './on-demand.js';
import type { AgentLike, AsAgentOptions, GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from './result.js';
import type { GraphInputs, RunnableGraph, RunningSettings } from './running.js';

/** The implementation of `Graph`: the draft, and the graph built from it, which is kept until the next change. */
export class GraphBuilder {
  private readonly draft: GraphDraft;
  private built: BuiltGraph | undefined;
  private checked: CheckedGraph | undefined;
  /** Figures of the last run before the last change. */
  private before: GraphMetrics | null = null;

  constructor(
    settings: DraftSettings,
    private readonly running: RunningSettings,
  ) {
    this.draft = new GraphDraft(settings);
  }

  node(name: unknown, body?: unknown, options?: DraftOptions): this {
    if (typeof name !== 'function') return this.changed(() => this.draft.addNode('node', name, body, options));
    const { name: given, ...rest } = (body ?? {}) as DraftOptions & { readonly name?: string };
    return this.changed(() => this.draft.addNode('node', given ?? name.name, name, rest));
  }

  map(name: unknown, options: MapOptions & DraftOptions, body: NodeFunction | InnerWorkflow): this {
    const policies = Object.entries(options).filter(([key]) => !MAP_OPTION_NAMES.has(key));
    return this.changed(() => this.draft.addNode('node', name, mapNode(options, body), Object.fromEntries(policies)));
  }

  route(after: unknown, router: unknown, options: RouteOptions = {}): this {
    return this.changed(() => this.draft.addRoute(after, router, { ...options, named: true }));
  }

  addNode(name: unknown, body: unknown, options?: DraftOptions): this {
    return this.changed(() => this.draft.addNode('update', name, body, options));
  }

  addEdge(from: unknown, to: unknown): this {
    return this.changed(() => this.draft.addEdge(from, to));
  }

  addConditionalEdge(from: unknown, router: unknown, map?: Readonly<Record<string, string>>): this {
    const options = { named: false, ...(map === undefined ? {} : { map }) };
    return this.changed(() => this.draft.addRoute(from, router, options));
  }

  setEntry(name: unknown): this {
    return this.changed(() => this.draft.setEntry(name));
  }

  setExit(name: unknown): this {
    return this.changed(() => this.draft.setExit(name));
  }

  get nodes(): Map<string, GraphNode> {
    return nodeViews(this.draft);
  }

  get edges(): EdgeView[] {
    return edgeViews(this.draft, this.current());
  }

  get conditionalEdges(): RouteView[] {
    return routeViews(this.draft);
  }

  get exits(): string[] {
    return [...this.draft.exits];
  }

  get derivedStateSchema(): Record<string, StateKey> {
    return stateKeys(this.draft, this.current());
  }

  get metrics(): GraphMetrics | null {
    return this.checked?.metrics ?? this.before;
  }

  compile(): CheckedGraph {
    if (this.checked !== undefined) return this.checked;
    const { plan, bindings, problems } = this.current();
    if (hasErrors(problems)) throw definitionError(problems);
    const ends = endsOf(this.draft, plan);
    return (this.checked = new CheckedGraph(plan, bindings, problems, ends, this.running));
  }

  async run(inputs?: GraphInputs, options?: GraphRunOptions): Promise<GraphResult> {
    return await this.compile().run(inputs, options);
  }

  async runOrThrow(inputs?: GraphInputs, options?: GraphRunOptions): Promise<Record<string, unknown>> {
    return await this.compile().runOrThrow(inputs, options);
  }

  stream(inputs?: GraphInputs, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult> {
    return streamMeasured({ graph: () => this.compile(), inputs: () => inputs, options });
  }

  dryRun(inputs: Readonly<Record<string, unknown>> = {}): DryRun {
    this.compile();
    return dryRunOf(this.current(), inputs);
  }

  toMermaid(): string {
    return draw(this.current().plan, 'mermaid');
  }

  toDot(): string {
    return draw(this.current().plan, 'dot');
  }

  asAgent(options?: AsAgentOptions): AgentLike {
    return this.compile().asAgent(options);
  }

  /** Not named `build`: a graph is no node, which has a method of this name. */
  private current(): BuiltGraph {
    this.built ??= buildGraph(this.draft);
    return this.built;
  }

  private changed(change: () => void): this {
    change();
    this.before = this.metrics;
    this.built = undefined;
    this.checked = undefined;
    return this;
  }
}

/** The implementation of `CompiledGraph`. */
class CheckedGraph implements RunnableGraph {
  /** Figures of the last run that ended. */
  metrics: GraphMetrics | null = null;
  readonly exits: readonly string[];
  readonly answerKey: string | undefined;

  constructor(
    readonly plan: Plan,
    readonly bindings: Bindings,
    readonly problems: readonly Problem[],
    ends: GraphEnds,
    readonly settings: RunningSettings,
  ) {
    this.exits = ends.exits;
    this.answerKey = ends.answerKey;
  }

  /** Failures inside nodes, and invalid inputs, are in the result. */
  async run(inputs?: GraphInputs, options?: GraphRunOptions): Promise<GraphResult> {
    const result = await runGraph(this, inputs, options);
    this.metrics = result.metrics;
    return result;
  }

  runOrThrow(inputs?: GraphInputs, options?: GraphRunOptions): Promise<Record<string, unknown>> {
    return runGraphOrThrow(this, inputs, options);
  }

  /** Runs once the first event is requested. */
  stream(inputs?: GraphInputs, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult> {
    return streamMeasured({ graph: () => this, inputs: () => inputs, options });
  }

  asAgent(options?: AsAgentOptions): AgentLike {
    return graphAsAgent(this, options);
  }
}
