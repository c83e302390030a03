import type { ErrorData } from '../../base/errors.js';
import type { Version } from '../state/version.js';
import type { Hop } from './compile.js';

/**
 * What travels along an edge (E1). `live`: the path was taken; `dead`: it was not; `failed`: a dead token that carries the failure
 * of its sender (`onError: continue`); `poison`: a failed one whose receivers are skipped (`onError: skipDependents`).
 */
export type TokenKind = 'live' | 'dead' | 'failed' | 'poison';

/** A step that failed, as it is told to who goes on after it. */
export interface Failure {
  /** Id of its node. */
  readonly from: string;
  /** Its address. */
  readonly path: string;
  readonly error: ErrorData;
}

/** A token. One object serves all edges of a step. */
export interface Token {
  readonly kind: TokenKind;
  /** What it carries; when dead, what its sender saw, for joins that look at dead paths too. */
  readonly version: Version;
  /** What a dead token carries in addition, from senders that were skipped with several tokens. */
  readonly more: readonly Version[] | undefined;
  /** Causal depth of the sender: how many nodes ran one after another up to it. */
  readonly depth: number;
  /** How many cycles were closed on the way. */
  readonly round: number;
  /** Label of what decided that it comes, live or dead. */
  readonly influence: number;
  readonly failure: Failure | undefined;
}

/**
 * With what a node fires. A live token is one: the node sees what it carries, one step deeper.
 */
export interface Firing {
  /** The state that the step sees (S2). */
  readonly version: Version;
  /** Causal depth of what came before. */
  readonly depth: number;
  readonly round: number;
  /** Label of what decided that it fires. */
  readonly influence: number;
  /** Where several tokens came together. */
  readonly arrivals?: Arrivals;
  /** What it takes over for. */
  readonly failure?: Failure | undefined;
}

/** The tokens with which a node fires or is skipped, by in-edge; undefined where none came (E4). */
export type Arrivals = readonly (Token | undefined)[];

/** Where a token comes from. */
export type Origin = Pick<Token, 'depth' | 'round'>;

/** Where a token comes from, and what decided that it comes. */
export type Decided = Pick<Token, 'depth' | 'round' | 'influence'>;

/** A token that carries one version. */
export function tokenOf(
  kind: TokenKind,
  version: Version,
  { depth, round }: Origin,
  influence: number,
  failure?: Failure,
): Token {
  return { kind, version, more: undefined, depth, round, influence, failure };
}

/** What the routes of a node chose. */
export interface Choice {
  readonly hops: readonly Hop[];
  /** Names that a route without declared targets chose and does not mention. */
  readonly others: readonly string[];
  /** Nodes at which the plan around goes on when this one has ended. */
  readonly around?: readonly string[];
}
