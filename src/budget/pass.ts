import type { Allowance } from './allowance.js';

/** What somebody allows at one provider. */
export interface ProviderLimits {
  /** Calls at once. */
  readonly concurrency?: number;
  readonly requestsPerMinute?: number;
  /** Of input and output together. */
  readonly tokensPerMinute?: number;
}

/** A call that wants to be made. */
export interface Asked {
  /** Calls of different runs take turns. */
  readonly run: string;
  /** Providers count each model apart. */
  readonly model?: string;
  /** Tokens that it may take, roughly; what is known better is said when it is over. */
  readonly input: number;
  readonly output: number;
  readonly limits?: ProviderLimits | undefined;
  /** It was refused before, and goes ahead of the others of its run. */
  readonly again?: boolean;
}

/** What limits of providers count. */
export type Counted = 'requests' | 'tokens' | 'input' | 'output';

/** What a server says with an answer. */
export interface Told {
  readonly allowances: Readonly<Partial<Record<Counted, Allowance>>>;
  /** It did not take the call, because there are too many. */
  readonly refused: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** What a call takes of a limit. */
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

/** Who lets calls pass, as they see it. */
export interface Gate {
  left(pass: Pass, was: 'waiting' | 'running', used: number | undefined): void;
  tell(pass: Pass, told: Told): void;
}

/** A call on its way: it waits, it runs, it has left. */
export class Pass {
  /** Which call it is of those that were let in, from 1; 0: it waits. */
  number = 0;
  /** What all calls up to this one took. */
  charged: Readonly<Record<Counted, number>> | undefined = undefined;
  private over = false;
  private wake: (() => void) | undefined = undefined;

  constructor(
    readonly asked: Asked,
    /** Calls that waited when it came. */
    readonly ahead: number,
    private readonly gate: Gate,
  ) {}

  get isWaiting(): boolean {
    return this.number === 0 && !this.over;
  }

  /** Resolves when it may be made; undefined: at once. */
  ready(): Promise<void> | undefined {
    if (!this.isWaiting) return undefined;
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /** Belongs to the gate. */
  admit(number: number, charged: Readonly<Record<Counted, number>>): void {
    this.number = number;
    this.charged = charged;
    this.wake?.();
  }

  /** What the server says with its answer, or in place of one. */
  tell(told: Told): void {
    if (!this.over) this.gate.tell(this, told);
  }

  /** The call is over, or is not wanted any more. `used`: tokens that it took. */
  leave(used?: number): void {
    if (this.over) return;
    const was = this.isWaiting ? 'waiting' : 'running';
    this.over = true;
    this.gate.left(this, was, used);
  }
}

/** The calls of one run that wait, first come first served; those that were refused before go ahead. */
export class Queue {
  private readonly ahead: Pass[] = [];
  private calls: Pass[] = [];
  private next = 0;

  put(pass: Pass): void {
    if (pass.asked.again === true) this.ahead.push(pass);
    else this.calls.push(pass);
  }

  /** The first that still waits. */
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
