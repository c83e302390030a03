import { didYouMean } from '../base/suggest.js';
import type { Position, Problem } from '../base/problem.js';

/** Where a notation puts what it finds wrong. */
export interface Findings {
  readonly list: Problem[];
  /** See {@link FindingsOptions}. */
  readonly lenient: boolean;
  error(code: string, message: string, at: Position | undefined, hint?: string): void;
  warning(code: string, message: string, at: Position | undefined, hint?: string): void;
  /**
   * Something that a file asks for and does not get (`not-supported`), by which it loses meaning or safety: an error, unless files are read leniently.
   */
  lost(loses: 'meaning' | 'safety', message: string, at: Position | undefined, hint: string): void;
  /** Takes over problems that another reader found. */
  add(problems: readonly Problem[]): void;
  /** A hint with the name that was most likely meant. */
  near(word: string, candidates: Iterable<string>): string | undefined;
}

/** Comparing names is dear, and nobody reads that many hints. */
const MAX_HINTS = 100;

/** Of more errors, or more warnings, only the first are kept. */
const MAX_FINDINGS = 10_000;

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const LONGEST = 1_000;

/** A text in which characters that a terminal obeys or hides are spelt out, cut to a length that can be read. */
export function visibleText(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  return cut.replaceAll(INVISIBLE, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** How definitions are judged. */
export interface FindingsOptions {
  /** What a file asks for and does not get is a warning, also where it loses meaning or safety by it. Default false. */
  readonly lenient?: boolean | undefined;
}

const CONSEQUENCE = {
  meaning: 'without it the file means something else',
  safety: 'without it the file is less safe',
} as const;

/**
 * An empty list of findings. The same finding at the same place is kept once; messages and hints are made of visible characters,
 * whatever the names in them.
 */
export function createFindings({ lenient = false }: FindingsOptions = {}): Findings {
  const list: Problem[] = [];
  const seen = new Set<string>();
  const counts = { error: 0, warning: 0 };
  const put = (problem: Problem): void => {
    const { code, at, hint } = problem;
    const message = visibleText(problem.message);
    const key = JSON.stringify([code, message, at?.file, at?.line, at?.column]);
    const count = counts[problem.severity];
    if (seen.has(key) || count >= MAX_FINDINGS) return;
    counts[problem.severity] = count + 1;
    seen.add(key);
    list.push({ ...problem, message, ...(hint === undefined ? {} : { hint: visibleText(hint) }) });
  };
  const make = (severity: Problem['severity']): Findings['error'] => {
    return (code, message, at, hint) => {
      put({ code, severity, message, ...(at === undefined ? {} : { at }), ...(hint === undefined ? {} : { hint }) });
    };
  };
  const [error, warning] = [make('error'), make('warning')];
  return {
    list,
    lenient,
    error,
    warning,
    lost: (loses, message, at, hint) => {
      const whole = `${message}: ${CONSEQUENCE[loses]}`;
      if (lenient) warning('not-supported', whole, at, hint);
      else error('not-supported', whole, at, `${hint}; --lenient (lenient: true) goes without`);
    },
    add: (problems) => problems.forEach(put),
    near: (word, candidates) => (list.length < MAX_HINTS ? didYouMean(word, candidates) : undefined),
  };
}

/** Problems in the order of the text: by file in order of first appearance, then line, then column. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const files = new Map<string | undefined, number>();
  for (const { at } of problems) if (!files.has(at?.file)) files.set(at?.file, files.size);
  const rank = (problem: Problem): number => files.get(problem.at?.file) ?? 0;
  return problems.toSorted(
    (a, b) => rank(a) - rank(b) || (a.at?.line ?? 0) - (b.at?.line ?? 0) || (a.at?.column ?? 0) - (b.at?.column ?? 0),
  );
}
