/** A node as it can be looked at. */
export interface GraphNode {
  readonly name: string;
  /** `node`: its result is kept under its name. `update`: it returns an update of the state. */
  readonly layer: 'node' | 'update';
  /** The function; absent for agents, tools and workflows. */
  readonly fn?: unknown;
  /** The options with which it was added. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** An edge that always fires. */
export interface EdgeView {
  readonly from: string;
  readonly to: string;
  /** It follows from a parameter. */
  readonly inferred: boolean;
}

/** A choice after a node. */
export interface RouteView {
  readonly from: string;
  readonly router: unknown;
  readonly map?: Readonly<Record<string, string>>;
  readonly targets?: readonly string[];
}

/** A key of the state. */
export interface StateKey {
  /** Where it comes from: declared with a schema, the result of a node, or given by the caller. */
  readonly from: 'declared' | 'node' | 'input';
  /** The Standard Schema that it was declared with. */
  readonly schema?: unknown;
}

/** What a run would do, as far as it is known before one. */
export interface DryRun {
  /** Names by level. Nodes that run only when a route leads to them are not among them. */
  readonly levels: readonly (readonly string[])[];
  /** Nodes that run only when a route or a failure leads to them. */
  readonly conditionalNodes: readonly string[];
  readonly entry: string | undefined;
  readonly exits: readonly string[];
  /** Inputs that must still be given. */
  readonly inputsRequired: readonly string[];
}
