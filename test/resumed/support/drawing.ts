import { createHash } from 'node:crypto';
import { seededRandom } from '../../../src/testing/index.js';

/** A number that follows from a text. */
export function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32LE(0);
}

/** A short word that follows from a value. */
export function wordOf(value: unknown): string {
  return numberOf(JSON.stringify(value)).toString(36).slice(0, 5).padStart(5, '0');
}

/** Draws the parts of a program. */
export class Drawing {
  private readonly random: () => number;
  private ids = 0;

  constructor(seed: string) {
    this.random = seededRandom(seed);
  }

  /** A whole number below `n`. */
  nat(n: number): number {
    return Math.floor(this.random() * n);
  }

  chance(p: number): boolean {
    return this.random() < p;
  }

  pick<T>(...of: readonly [T, ...T[]]): T {
    return of[this.nat(of.length)] ?? of[0];
  }

  /** One of a list; undefined if it is empty. */
  oneOf<T>(list: readonly T[]): T | undefined {
    return list[this.nat(list.length)];
  }

  /** The part with this chance, else nothing. */
  maybe<T extends object>(p: number, part: () => T): T | object {
    return this.chance(p) ? part() : {};
  }

  /** A name that nothing else of the program has. */
  id(of: string): string {
    this.ids += 1;
    return `${of}${this.ids}`;
  }

  list<T>(least: number, most: number, part: () => T): T[] {
    return Array.from({ length: least + this.nat(most - least + 1) }, part);
  }
}
