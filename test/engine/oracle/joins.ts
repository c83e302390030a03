import type { PlanNode } from '../../../src/plan/plan.js';
import type { History } from './history.js';
import type { Shape, ShapeEdge } from './shape.js';

/** What travels along an edge. Every token carries what its sender knew, its depth and its round. */
export interface Token {
  readonly live: boolean;
  /** Sent by a failed step with `skipDependents`, or by a step that was skipped for it. */
  readonly poisoned: boolean;
  readonly history: History;
  readonly depth: number;
  readonly round: number;
}

/** A node that is to fire, with what it fires on. */
export interface Firing {
  readonly node: string;
  readonly tokens: readonly Token[];
  readonly run: boolean;
}

/** The queues of all forward in-edges of a plan instance (E1). */
export class Joins {
  readonly #shape: Shape;
  readonly #nodes: readonly PlanNode[];
  readonly #queues = new Map<string, Token[]>();
  /** How many tokens of an edge still belong to rounds that fired without them. */
  readonly #owed = new Map<string, number>();

  constructor(shape: Shape, nodes: readonly PlanNode[]) {
    this.#shape = shape;
    this.#nodes = nodes;
    for (const edge of shape.edges) {
      this.#queues.set(edge.id, []);
      this.#owed.set(edge.id, 0);
    }
  }

  /** A token arrives; gives the firings that follow from it. */
  arrive(edge: ShapeEdge, token: Token): Firing[] {
    if (edge.closing) {
      return token.live ? [{ node: edge.to, tokens: [{ ...token, round: token.round + 1 }], run: true }] : [];
    }
    if (this.#nodes.find((one) => one.id === edge.to)?.join === 'each')
      return token.live ? [{ node: edge.to, tokens: [token], run: true }] : [];
    const owed = this.#owed.get(edge.id) ?? 0;
    if (owed > 0) {
      this.#owed.set(edge.id, owed - 1);
      return [];
    }
    this.#queue(edge).push(token);
    const firings: Firing[] = [];
    for (let next = this.#fireable(edge.to); next !== undefined; next = this.#fireable(edge.to)) firings.push(next);
    return firings;
  }

  /** E4: the first node, by an order in which no edge leads backwards, with a partly filled join fires with the tokens that it has. */
  release(): Firing | undefined {
    const place = (node: PlanNode): number => this.#shape.topo.get(node.id) ?? 0;
    for (const node of this.#nodes.toSorted((one, other) => place(one) - place(other))) {
      const tokens = this.#heads(node.id);
      if (tokens.length > 0) {
        this.#takeHeads(node.id);
        return { node: node.id, tokens, run: this.#runs(node, tokens) };
      }
    }
    return undefined;
  }

  /** E2: takes the tokens of one round if the join is met. */
  #fireable(id: string): Firing | undefined {
    const node = this.#nodes.find((one) => one.id === id);
    if (node === undefined) throw new Error(`no node ${id}`);
    const tokens = this.#heads(id);
    const complete = tokens.length === this.#inEdges(id).length && tokens.length > 0;
    const needed = liveNeeded(node);
    if (needed !== undefined && tokens.filter((token) => token.live).length >= needed) {
      for (const edge of this.#inEdges(id)) {
        if (this.#queue(edge).length === 0) this.#owed.set(edge.id, (this.#owed.get(edge.id) ?? 0) + 1);
      }
      this.#takeHeads(id);
      return { node: id, tokens, run: true };
    }
    if (!complete) return undefined;
    this.#takeHeads(id);
    return { node: id, tokens, run: needed === undefined && this.#runs(node, tokens) };
  }

  #runs(node: PlanNode, tokens: readonly Token[]): boolean {
    return node.join === 'settled' || tokens.some((token) => token.live);
  }

  #inEdges(id: string): ShapeEdge[] {
    return this.#shape.edges.filter((edge) => edge.to === id && !edge.closing);
  }

  #queue(edge: ShapeEdge): Token[] {
    return this.#queues.get(edge.id) ?? [];
  }

  #heads(id: string): Token[] {
    return this.#inEdges(id).flatMap((edge) => this.#queue(edge).slice(0, 1));
  }

  #takeHeads(id: string): void {
    for (const edge of this.#inEdges(id)) this.#queue(edge).shift();
  }
}

/** How many live tokens make the join fire early; undefined for joins that wait for all. */
function liveNeeded(node: PlanNode): number | undefined {
  if (node.join === 'any') return 1;
  return typeof node.join === 'object' ? node.join.quorum : undefined;
}
