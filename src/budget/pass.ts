import type { Allowance } from './allowance.js';

/** Limits that a person sets for one provider. */
export interface ProviderLimits {
  /** Maximum number of concurrent calls. */
  readonly concurrency?: number;
  readonly requestsPerMinute?: number;
  /** Input and output tokens together. */
  readonly tokensPerMinute?: number;
}

export interface Asked {
  /** Calls of different runs take turns. */
  readonly run: string;
  /** The model: providers count each model separately. */
  readonly model?: string;
  /** An estimate of the tokens; the actual number is known when the call is over. */
  readonly input: number;
  readonly output: number;
  readonly limits?: ProviderLimits | undefined;
  /** True if the call was refused before: it goes ahead of the other calls of its run. */
  readonly again?: boolean;
}

/** The measures that providers limit. */
export type Counted = 'requests' | 'tokens' | 'input' | 'output';

export interface Told {
  readonly allowances: Readonly<Partial<Record<Counted, Allowance>>>;
  /** True if the server refused the call because of too many calls. */
  readonly refused: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** The amount of a limit that a call uses. */
export function costOf({ input, output }: Asked, counted: Counted): number {
  switch (counted) {
    case 'requests':
      return 1;
    case 'input':
      return input;
    case 'output':
      return output;
    case 'tokens':
      return input + output;
  }
}

export interface Gate {
  left(pass: Pass, was: 'waiting' | 'running', used: number | undefined): void;
  tell(pass: Pass, told: Told): void;
}

/** A call on its way: waiting, running, or over. */
export class Pass {
  /** The number of the call among the admitted ones, from 1. 0 while it waits. */
  number = 0;
  charged: Readonly<Record<Counted, number>> | undefined = undefined;
  private over = false;
  private wake: (() => void) | undefined = undefined;

  constructor(
    readonly asked: Asked,
    /** Number of calls that waited when this one arrived. */
    readonly ahead: number,
    private readonly gate: Gate,
  ) {}

  get isWaiting(): boolean {
    return this.number === 0 && !this.over;
  }

  /** Resolves when the call may be made. Undefined if it may be made at once. */
  ready(): Promise<void> | undefined {
    if (!this.isWaiting) return undefined;
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /** Called by the gate only. */
  admit(number: number, charged: Readonly<Record<Counted, number>>): void {
    this.number = number;
    this.charged = charged;
    this.wake?.();
  }

  /** Reports what the server sent with its answer, or in place of one. */
  tell(told: Told): void {
    if (!this.over) this.gate.tell(this, told);
  }

  /** Ends the call, or gives it up. `used`: the tokens it used. */
  leave(used?: number): void {
    if (this.over) return;
    const was = this.isWaiting ? 'waiting' : 'running';
    this.over = true;
    this.gate.left(this, was, used);
  }
}

/** The waiting calls of one run, in order of arrival. Calls that were refused before go ahead. */
export class Queue {
  private readonly ahead: Pass[] = [];
  private calls: Pass[] = [];
  private next = 0;

  put(pass: Pass): void {
    if (pass.asked.again === true) this.ahead.push(pass);
    else this.calls.push(pass);
  }

  /** The first call that still waits. */
  get first(): Pass | undefined {
    while (this.ahead[0]?.isWaiting === false) this.ahead.shift();
    if (this.ahead[0] !== undefined) return this.ahead[0];
    while (this.calls[this.next]?.isWaiting === false) this.next += 1;
    if (this.next > 1_000) {
      this.calls = this.calls.slice(this.next);
      this.next = 0;
    }
    return this.calls[this.next];
  }
}
