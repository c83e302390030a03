import type { ErrorData } from '../../base/errors.js';
import type { Version } from '../state/version.js';
import type { Hop } from './compile.js';

/**
 * The kind of a token on an edge (E1). `live`: the path was taken; `dead`: it was not; `failed`: a dead token that carries the failure of
 * its sender (`onError: continue`); `poison`: a failed one whose receivers are skipped (`onError: skipDependents`).
 */
export type TokenKind = 'live' | 'dead' | 'failed' | 'poison';

/** A failed step, as its successors receive it. */
export interface Failure {
  readonly from: string;
  readonly path: string;
  readonly error: ErrorData;
}

export interface Token {
  readonly kind: TokenKind;
  /** The version that it carries; of a dead token, the view of its sender, for joins that include dead paths. */
  readonly version: Version;
  /** Further versions of a dead token, from senders that were skipped with several tokens. */
  readonly more: readonly Version[] | undefined;
  /** Causal depth of the sender: the number of nodes that ran one after another, including it. */
  readonly depth: number;
  /** Number of cycles closed on the way. */
  readonly round: number;
  /** Label of what decided that the token arrives, live or dead. */
  readonly influence: number;
  readonly failure: Failure | undefined;
}

/** The input of a node that fires. A live token is a firing: the node sees its version, one step deeper. */
export interface Firing {
  /** The state that the step sees (S2). */
  readonly version: Version;
  /** Causal depth of what came before. */
  readonly depth: number;
  readonly round: number;
  /** Label of what decided that the node fires. */
  readonly influence: number;
  readonly arrivals?: Arrivals;
  readonly failure?: Failure | undefined;
}

/** The tokens with which a node fires or is skipped, by in-edge; undefined if none arrived (E4). */
export type Arrivals = readonly (Token | undefined)[];

export type Origin = Pick<Token, 'depth' | 'round'>;

/** The origin of a token, with what decided that it arrives. */
export type Decided = Pick<Token, 'depth' | 'round' | 'influence'>;

export function tokenOf(
  kind: TokenKind,
  version: Version,
  { depth, round }: Origin,
  influence: number,
  failure?: Failure,
): Token {
  return { kind, version, more: undefined, depth, round, influence, failure };
}

/** The choice of a node's routes. */
export interface Choice {
  readonly hops: readonly Hop[];
  /** Names chosen by a route without declared targets that have no hop. */
  readonly others: readonly string[];
  /** Nodes of the surrounding plan that continue after the end of this one. */
  readonly around?: readonly string[];
}
