import type { Problem } from '../base/problem.js';
import type { GraphShape } from './graph-shape.js';
import type { Bindings, ChannelSpec, Plan } from './plan.js';
import type { Security } from './security.js';

export interface Scope {
  readonly plan: Plan;
  readonly shape: GraphShape;
  readonly channels: ReadonlyMap<string, ChannelSpec>;
  /** The place of the plan in the data: `''`, or `nodes[2].plan.`. */
  readonly place: string;
  /** Ids of the surrounding nodes, each followed by a slash: the prefix of its keys in the bindings. */
  readonly address: string;
  /** Absent if the functions are not known. */
  readonly bindings: Bindings | undefined;
  /** Whether some number in the plan is out of bounds. */
  readonly hasWrongNumbers: boolean;
  readonly security: Security | undefined;
  readonly findings: Findings;
}

export interface FindingOptions {
  /** Index of the node concerned; absent: the plan as a whole. */
  readonly node?: number | undefined;
  /** Place in the node, or in the plan if there is no node. */
  readonly path?: string;
  readonly hint?: string | undefined;
  readonly severity?: Problem['severity'];
}

/** Collects the problems of one plan; they are returned in plan order, in whatever order the checks run. */
export class Findings {
  private readonly found: { readonly order: number; readonly problem: Problem }[] = [];

  constructor(
    private readonly plan: Plan,
    private readonly place: string,
  ) {}

  add(code: string, message: string, options: FindingOptions = {}): void {
    const { node, hint, severity = 'error' } = options;
    const at = node === undefined ? undefined : this.plan.nodes[node]?.at;
    const parts = [node === undefined ? [] : `nodes[${node}]`, options.path ?? []].flat();
    const path = this.place + parts.join('.');
    const problem: Problem = {
      code,
      severity,
      message,
      ...(at === undefined ? {} : { at }),
      ...(path === '' ? {} : { path }),
      ...(hint === undefined ? {} : { hint }),
    };
    this.found.push({ order: node ?? -1, problem });
  }

  inPlanOrder(): readonly Problem[] {
    return this.found.toSorted((a, b) => a.order - b.order).map((finding) => finding.problem);
  }
}

/** Returns a node's name for messages: its id behind those of the surrounding nodes. */
export function nameOf(scope: Scope, node: number | string): string {
  const id = typeof node === 'string' ? node : (scope.plan.nodes[node]?.id ?? '');
  return JSON.stringify(scope.address + id);
}
