import { FORBIDDEN_NAMES } from '../../base/json.js';
import { SkeinError } from '../../base/errors.js';
import { checkKinds, refuseUnknown } from '../../base/options.js';
import type { InputInput } from '../../plan/builder-input.js';
import type { BudgetInput } from '../../plan/budget.js';
import type { SecurityInput } from '../../plan/security.js';
import type { Declarations } from '../../plan/declarations.js';
import { END, type Limits, type Plan } from '../../plan/plan.js';
import { isNodeSpec, plannedOf, type NodeSpec } from './nodes/planned.js';
import { OPTION_NAMES, READ_OPTIONS, type NodePolicies, type RouteOptions } from './policies.js';
import { refusal } from '../../base/problem.js';
import type { ReducerInput } from './reducers.js';
import { readSupervise, type SuperviseInput } from './supervising.js';

export interface DraftSettings
  extends Limits, Pick<Plan, 'name' | 'description' | 'firstExitWins' | 'finally'>, Declarations {
  /** Standard Schemas by key of the state. Undefined: any key may be written. */
  readonly state?: Readonly<Record<string, unknown>>;
  readonly inputs?: readonly InputInput[];
  readonly reducers?: Readonly<Record<string, ReducerInput | undefined>>;
  readonly answerKey?: string;
  readonly supervise?: SuperviseInput;
  readonly budget?: BudgetInput;
  readonly security?: SecurityInput;
  /** Keys that a run returns, or Standard Schemas by key. */
  readonly output?: readonly string[] | Readonly<Record<string, unknown>>;
}

/** Options of any node, of either layer. */
export interface DraftOptions extends NodePolicies {
  readonly inputs?: readonly string[];
  readonly writes?: readonly string[];
  readonly output?: string;
}

export interface DraftNode {
  readonly name: string;
  /** `node`: its result is stored under its name, and its reads create edges. `update`: it returns an update. */
  readonly layer: 'node' | 'update';
  readonly body: NodeFunction | NodeSpec;
  readonly options: DraftOptions;
}

export type NodeFunction = (...args: never[]) => unknown;

export interface DraftRoute extends RouteOptions {
  readonly from: string;
  readonly router: NodeFunction;
  /** Whether the function's parameter names what it reads. */
  readonly named: boolean;
}

/** The graph as declared so far. A mistake visible in one call is refused at once; names of nodes that may be added later are not. */
export class GraphDraft {
  readonly nodes = new Map<string, DraftNode>();
  readonly routes = new Map<string, DraftRoute>();
  readonly edges = new Map<string, { readonly from: string; readonly to: string }>();
  readonly exits = new Set<string>();
  entry: string | undefined;

  constructor(readonly settings: DraftSettings) {}

  /** @throws SkeinError `SKEIN_USAGE` for a call with wrong arguments, `SKEIN_DEFINITION` for a name that is empty or taken */
  addNode(layer: DraftNode['layer'], name: unknown, body: unknown, options: DraftOptions = {}): void {
    if (typeof name !== 'string') {
      const hint = typeof name === 'function' ? 'a function alone is added with .node(fn)' : undefined;
      throw usage(`the first argument must be a node name, not ${typeof name}`, hint);
    }
    if (typeof body !== 'function' && !isNodeSpec(body)) {
      throw usage(`the fn argument is required: ${JSON.stringify(name)} needs a function`, bodyHint(body, layer));
    }
    if (name.trim() === '') {
      throw refusal('empty-name', 'the name of a node must be non-empty', 'give it a name, or name its function');
    }
    if (name === END || FORBIDDEN_NAMES.has(name)) {
      const what = name === END ? 'is the end of a branch' : 'is a name of JavaScript objects';
      throw refusal('bad-id', `a node can't be named ${JSON.stringify(name)}: that ${what}`, 'choose another name');
    }
    if (this.nodes.has(name)) {
      throw refusal('duplicate-id', `duplicate node name ${JSON.stringify(name)}`, 'rename one of the two nodes');
    }
    const kind = typeof body === 'object' ? 'spec' : layer === 'node' ? 'function' : 'update';
    refuseUnknown(`the node ${JSON.stringify(name)}`, options, OPTION_NAMES[kind]);
    checkKinds(`the node ${JSON.stringify(name)}`, options, READ_OPTIONS);
    readSupervise(`the node ${JSON.stringify(name)}`, options.supervise);
    const goto = isNodeSpec(body) && body.targets !== undefined ? { goto: body.targets } : {};
    this.nodes.set(name, { name, layer, body: body as NodeFunction | NodeSpec, options: { ...options, ...goto } });
  }

  /** @throws SkeinError `SKEIN_USAGE`, `SKEIN_DEFINITION` for a second route after the same node */
  addRoute(from: unknown, router: unknown, options: RouteOptions & { readonly named: boolean }): void {
    if (typeof from !== 'string' || from === '') {
      throw usage('a route needs the name of the node after which it chooses', '.route(after, router)');
    }
    if (typeof router !== 'function') throw usage(`the route after ${JSON.stringify(from)} needs a function`);
    if (this.routes.has(from)) {
      const hint = 'let one router choose among all targets';
      throw refusal('duplicate-route', `${JSON.stringify(from)} already has a conditional outgoing edge`, hint);
    }
    const { named: _named, ...given } = options;
    if (Array.isArray(given.map)) {
      const hint =
        'in a map { answer: target }, the answer of the router comes first; a list of targets is for .route: { targets: [...] }';
      throw usage(`the map of the route after ${JSON.stringify(from)} is a list`, hint);
    }
    refuseUnknown(`the route after ${JSON.stringify(from)}`, given, OPTION_NAMES.route);
    checkKinds(`the route after ${JSON.stringify(from)}`, given, READ_OPTIONS);
    const map = options.map && { map: { ...options.map } };
    this.routes.set(from, { ...options, ...map, from, router: router as NodeFunction });
  }

  addEdge(from: unknown, to: unknown): void {
    const edge = { from: named(from, 'an edge'), to: named(to, 'an edge') };
    // Ids have no line breaks, so the key is unambiguous.
    this.edges.set(`${edge.from}\n${edge.to}`, edge);
  }

  setEntry(name: unknown): void {
    this.entry = named(name, 'the entry');
  }

  setExit(name: unknown): void {
    this.exits.add(named(name, 'an exit'));
  }
}

/** How to make a node of what was given in place of a function. */
function bodyHint(body: unknown, layer: DraftNode['layer']): string {
  const has = (key: string): boolean => typeof body === 'object' && body !== null && key in body;
  const call = `.${layer === 'node' ? 'node' : 'addNode'}(name, `;
  const isAgent = plannedOf(body) !== undefined;
  if (!isAgent && (has('plan') || has('compile')))
    return `a workflow becomes a node with ${call}workflowNode(workflow, name))`;
  if (isAgent || has('run')) return `an agent becomes a node with ${call}agentNode(agent))`;
  if (has('execute')) return `a tool becomes a node with ${call}toolNode(tool))`;
  return `${call}fn)`;
}

function named(name: unknown, what: string): string {
  if (typeof name === 'string') return name;
  throw usage(`${what} needs the name of a node, not ${typeof name}`);
}

function usage(message: string, hint?: string): SkeinError {
  return new SkeinError('SKEIN_USAGE', message, { hint });
}
