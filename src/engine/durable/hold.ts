import type { Note } from '../../budget/account.js';
import type { Amount } from '../../budget/amount.js';
import type { Held } from '../ports/durable.js';

/** What a back end records of a reservation. */
export interface RecordedNote extends Note {
  readonly isWritten: boolean;
  /** Writes it where that is still to be done. Resolves when it is committed. */
  committed(): Promise<void>;
  /** Writes what was spent, where nothing else says so. Undefined: what was reserved was not begun. */
  ended(spent: Amount | undefined): void;
}

interface Holding {
  readonly settle: (spent: Amount) => void;
  readonly begins: () => void;
  readonly ends: () => void;
}

/** What an effect holds. */
export class Hold implements Held {
  private isOver = false;
  /** What is done inside of it. */
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
