import type { PatternMatcher } from '../pattern/matcher.js';
import type { Budget } from './budget.js';
import type { Schema } from './references.js';

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
