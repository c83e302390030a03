import { Queue } from '../../base/collections.js';
import type { Arrivals, Token } from './token.js';

/** A decision of a join: the tokens of one round, and whether the node runs or is skipped. */
export interface Round {
  readonly arrivals: Arrivals;
  readonly runs: boolean;
}

/**
 * The in-edges of one node, each a queue, and its join policy (E1, E2).
 *
 * A *round* takes at most one token from each in-edge. `any` and `quorum` fire before the round is complete; tokens of the round that
 * arrive later are absorbed (`owed` counts them per in-edge).
 */
export class JoinQueue {
  /** Number of waiting tokens. */
  size = 0;
  private heads: (Token | undefined)[];
  /** Tokens behind the first of an in-edge: only in cycles. */
  private readonly behind = new Map<number, Queue<Token>>();
  private readonly owed = new Map<number, number>();
  private filled = 0;
  private live = 0;

  constructor(
    private readonly slots: number,
    private readonly join: 'all' | 'any' | 'settled' | 'quorum',
    private readonly need: number,
  ) {
    this.heads = Array.from({ length: slots });
  }

  /** Adds a token. Call {@link take} until it returns undefined. */
  arrive(slot: number, token: Token): void {
    if (this.owed.size > 0 && this.absorb(slot)) return;
    this.size += 1;
    if (this.heads[slot] === undefined) {
      this.setHead(slot, token);
      return;
    }
    const queue = this.behind.get(slot);
    if (queue !== undefined) queue.put(token);
    else {
      const first = new Queue<Token>();
      first.put(token);
      this.behind.set(slot, first);
    }
  }

  /** The next round that the policy releases, or undefined. */
  take(): Round | undefined {
    const complete = this.filled === this.slots;
    if (this.join === 'all' || this.join === 'settled') {
      if (!complete) return undefined;
      const runs = this.join === 'settled' || this.live > 0;
      return { arrivals: this.takeHeads(), runs };
    }
    if (this.live >= this.need) {
      for (let slot = 0; slot < this.slots; slot++) {
        if (this.heads[slot] === undefined) this.owed.set(slot, (this.owed.get(slot) ?? 0) + 1);
      }
      return { arrivals: this.takeHeads(), runs: true };
    }
    return complete ? { arrivals: this.takeHeads(), runs: false } : undefined;
  }

  /** E4: the current round, or undefined if nothing waits here. */
  release(): Round | undefined {
    if (this.filled === 0) return undefined;
    const runs = this.join === 'settled' || this.live > 0;
    return { arrivals: this.takeHeads(), runs };
  }

  /** All tokens that still wait at the end of a run. */
  waiting(): Token[] {
    return [...this.heads, ...[...this.behind.values()].flatMap((queue) => queue.waiting())].filter(
      (token) => token !== undefined,
    );
  }

  private absorb(slot: number): boolean {
    const owed = this.owed.get(slot);
    if (owed === undefined) return false;
    if (owed === 1) this.owed.delete(slot);
    else this.owed.set(slot, owed - 1);
    return true;
  }

  private setHead(slot: number, token: Token): void {
    this.heads[slot] = token;
    this.filled += 1;
    if (token.kind === 'live') this.live += 1;
  }

  private takeHeads(): Arrivals {
    const arrivals = this.heads;
    this.heads = Array.from({ length: this.slots });
    this.size -= this.filled;
    this.filled = 0;
    this.live = 0;
    for (const [slot, queue] of this.behind) {
      if (arrivals[slot] === undefined) continue;
      const next = queue.take();
      if (next === undefined) this.behind.delete(slot);
      else this.setHead(slot, next);
    }
    return arrivals;
  }
}
