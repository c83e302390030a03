import type { Note } from '../../budget/account.js';
import type { Amount } from '../../budget/amount.js';
import type { Held } from '../ports/durable.js';

/** The record of a reservation. */
export interface RecordedNote extends Note {
  readonly isWritten: boolean;
  /** Writes the record if it is not written yet. Resolves when it is committed. */
  committed(): Promise<void>;
  /** Writes what was spent, if no other record contains it. Undefined if the reservation was not used. */
  ended(spent: Amount | undefined): void;
}

interface Holding {
  readonly settle: (spent: Amount) => void;
  readonly begins: () => void;
  readonly ends: () => void;
}

/** A reservation of an effect. */
export class Hold implements Held {
  private isOver = false;
  /** Number of calls in progress inside it. */
  private inside = 0;

  constructor(
    readonly amount: Amount,
    private readonly holding: Holding,
  ) {
    holding.begins();
  }

  settle(spent: Amount): void {
    if (this.isOver) return;
    if (this.inside === 0) this.holding.ends();
    this.isOver = true;
    this.holding.settle(spent);
  }

  async during<T>(inside: () => Promise<T>): Promise<T> {
    if (this.isOver) return await inside();
    this.inside += 1;
    if (this.inside === 1) this.holding.ends();
    try {
      return await inside();
    } finally {
      this.inside -= 1;
      if (this.inside === 0 && !this.isOver) this.holding.begins();
    }
  }
}
