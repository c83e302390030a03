import type { PatternMatcher } from '../pattern/matcher.js';

export type Schema = boolean | Readonly<Record<string, unknown>>;

/** The parts that keywords have evaluated so far, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Seen {
  readonly properties: Set<string>;
  readonly items: Set<number>;
}

export interface Spot {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  /** JSON pointer to the value. */
  readonly at: string;
  /** Absent if no keyword needs it. */
  readonly seen: Seen | undefined;
  /** Collects findings; absent if only the yes-or-no result counts. */
  readonly findings: Findings | undefined;
  /** The documents entered, outermost first; the last one contains the schema. */
  readonly documents: readonly string[];
}

/** Findings as lines of text. */
export interface Findings {
  readonly lines: Set<string>;
}

/** A schema that can't be used, or whose check exceeds the limits. */
export class SchemaError extends Error {}

/** Maximum number of steps for one value; well under a second. A list of 100,000 numbers takes 700,000. */
const MAX_STEPS = 1_000_000;
/** Maximum nesting of schemas and values, together. */
const MAX_NESTING = 600;

/** The remaining steps of one check: schemas and values come from outside, and may be made to run forever. */
export class Budget {
  left = MAX_STEPS;
  private depth = 0;

  get spent(): number {
    return MAX_STEPS - this.left;
  }

  /** @throws SchemaError if fewer steps are left */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new SchemaError(`checking takes more than ${MAX_STEPS} steps`);
  }

  /** @throws SchemaError if the nesting is too deep */
  enter(): void {
    this.depth += 1;
    if (this.depth > MAX_NESTING)
      throw new SchemaError(`it is nested deeper than ${MAX_NESTING} levels, or refers to itself`);
  }

  leave(): void {
    this.depth -= 1;
  }
}

export interface Evaluation {
  readonly budget: Budget;
  /** Checks a part of a spot's value by another schema; without `value`, the same value. */
  check(schema: unknown, spot: Spot, part?: Partial<Pick<Spot, 'value' | 'at' | 'seen' | 'findings'>>): boolean;
  /** Returns whether a text contains a match of a pattern. */
  finds(pattern: string, text: string): boolean;
  pattern(source: string): PatternMatcher;
  /** Returns the schema that a reference leads to. */
  target(keyword: '$ref' | '$dynamicRef' | '$recursiveRef', spot: Spot): Schema;
  keys(values: readonly unknown[]): ReadonlySet<string>;
}

/** Returns whether the value satisfies a keyword, and records findings. */
export type Keyword = (evaluation: Evaluation, given: unknown, spot: Spot) => boolean;

export const MOST_FINDINGS = 10;

/** Records a finding at a place. Always returns false, for use in a return statement. */
export function wrong(spot: Pick<Spot, 'at' | 'findings'>, message: string): false {
  const lines = spot.findings?.lines;
  if (lines !== undefined && lines.size < MOST_FINDINGS) lines.add(`${spot.at === '' ? '/' : spot.at}: ${message}`);
  return false;
}

export function shown(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** Formats a value that should be a name. A foreign schema may have an object there, whose `toString` need not be a function. */
export function nameText(name: unknown): string {
  return typeof name === 'string' ? name : shown(name);
}

/** Returns the pointer to a part of a value. */
export function below(at: string, name: string | number): string {
  return `${at}/${typeof name === 'number' ? name : name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export function all<T>(values: Iterable<T>, fits: (value: T) => boolean, spot: Spot): boolean {
  let ok = true;
  for (const value of values) {
    if (fits(value)) continue;
    ok = false;
    if (spot.findings === undefined) return false;
  }
  return ok;
}
