import type { PatternMatcher } from '../pattern/matcher.js';

/** A JSON Schema, as data. */
export type Schema = boolean | Readonly<Record<string, unknown>>;

/** What keywords have looked at so far, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Seen {
  readonly properties: Set<string>;
  readonly items: Set<number>;
}

/** One schema at work on one value. */
export interface Spot {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  /** JSON pointer to the value. */
  readonly at: string;
  /** Absent where nobody asks. */
  readonly seen: Seen | undefined;
  /** Findings are collected here; absent where only yes or no counts. */
  readonly findings: Findings | undefined;
  /** Documents that were entered, outermost first; the last one is that of the schema. */
  readonly documents: readonly string[];
}

/** What is wrong, in lines. */
export interface Findings {
  readonly lines: Set<string>;
}

/** A schema that can't be used, or that takes more than it may to check a value. */
export class SchemaError extends Error {}

/** Steps that one value may take; worth well under a second. A list of 100,000 numbers takes 700,000. */
const MAX_STEPS = 1_000_000;
/** Schemas and values may be nested so deep, together. */
const MAX_NESTING = 600;

/** What is left of the steps of one check: schemas and values come from outside, and some are made to take for ever. */
export class Budget {
  left: number;
  private depth = 0;

  constructor(private readonly most = MAX_STEPS) {
    this.left = most;
  }

  /** @throws SchemaError when there are not so many steps left */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new SchemaError(`checking takes more than ${this.most} steps`);
  }

  /** @throws SchemaError when it is too deep */
  enter(): void {
    this.depth += 1;
    if (this.depth > MAX_NESTING)
      throw new SchemaError(`it is nested deeper than ${MAX_NESTING} levels, or refers to itself`);
  }

  leave(): void {
    this.depth -= 1;
  }
}

/** What keywords need of the evaluation that they are part of. */
export interface Evaluation {
  readonly budget: Budget;
  /** Checks a part of the value of a spot, or, without `value`, the same value, by another schema. */
  check(schema: unknown, spot: Spot, part?: Partial<Pick<Spot, 'value' | 'at' | 'seen' | 'findings'>>): boolean;
  /** Looks for a pattern in a text. */
  finds(pattern: string, text: string): boolean;
  pattern(source: string): PatternMatcher;
  /** What a reference leads to. */
  target(keyword: '$ref' | '$dynamicRef' | '$recursiveRef', spot: Spot): Schema;
  /** Values of an `enum` or `const`, by what makes them equal. */
  keys(values: readonly unknown[]): ReadonlySet<string>;
}

/** Says whether the value fits a keyword, and notes what is wrong. */
export type Keyword = (evaluation: Evaluation, given: unknown, spot: Spot) => boolean;

/** At most so many findings are kept. */
export const MOST_FINDINGS = 10;

/** Notes what is wrong at a place. Always false, so that it can be returned. */
export function wrong(spot: Pick<Spot, 'at' | 'findings'>, message: string): false {
  const lines = spot.findings?.lines;
  if (lines !== undefined && lines.size < MOST_FINDINGS) lines.add(`${spot.at === '' ? '/' : spot.at}: ${message}`);
  return false;
}

/** A value in a message. */
export function shown(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** What should be a name, as text. A schema from outside may have an object there, and that may have a `toString` which is no function. */
export function nameText(name: unknown): string {
  return typeof name === 'string' ? name : shown(name);
}

/** The pointer to a part of a value. */
export function below(at: string, name: string | number): string {
  return `${at}/${typeof name === 'number' ? name : name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Every one is checked, so that all that is wrong is reported. */
export function all<T>(values: Iterable<T>, fits: (value: T) => boolean, spot: Spot): boolean {
  let ok = true;
  for (const value of values) {
    if (fits(value)) continue;
    ok = false;
    if (spot.findings === undefined) return false;
  }
  return ok;
}
