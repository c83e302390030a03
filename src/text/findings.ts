import { lazily } from '../base/collections.js';
import { didYouMean, suggest } from '../base/suggest.js';
import type { Position, Problem } from '../base/problem.js';
import { WORDS_OF_FILES, type SourceWords } from './source-words.js';

export interface Findings {
  readonly list: Problem[];
  readonly lenient: boolean;
  readonly words: SourceWords;
  error(code: string, message: string, at: Position | undefined, hint?: string): void;
  warning(code: string, message: string, at: Position | undefined, hint?: string): void;
  /** Reports something unsupported (`not-supported`) whose absence costs meaning or safety: an error, unless files are read leniently. */
  lost(loses: 'meaning' | 'safety', message: string, at: Position | undefined, hint: string): void;
  add(problems: readonly Problem[]): void;
  /** Returns a hint with the name that was most likely meant. */
  near(word: string, candidates: Iterable<string>): string | undefined;
  /** Returns the name itself. */
  nearest(word: string, candidates: Iterable<string>): string | undefined;
}

/** Comparing names is expensive, and more hints would not be read. */
const MAX_HINTS = 100;

/** The maximum number of errors, and of warnings; later ones are dropped. */
const MAX_FINDINGS = 10_000;

const INVISIBLE = lazily(() => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu);
const LONGEST = 1_000;

/** Returns a text with control and invisible characters spelt out, cut to a readable length. */
export function visibleText(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  return cut.replaceAll(INVISIBLE(), (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

export interface FindingsOptions {
  /** Turns unsupported features into warnings, even those whose loss changes meaning or safety. Default false. */
  readonly lenient?: boolean | undefined;
  /** Default: those for files. */
  readonly words?: SourceWords | undefined;
}

const CONSEQUENCE = {
  meaning: 'without it the file means something else',
  safety: 'without it the file is less safe',
} as const;

/** Creates an empty list of findings. They show only visible characters, and one repeated at the same place is kept once. */
export function createFindings({ lenient = false, words = WORDS_OF_FILES }: FindingsOptions = {}): Findings {
  const list: Problem[] = [];
  const seen = new Set<string>();
  const counts = { error: 0, warning: 0 };
  const put = (problem: Problem): void => {
    const { code, at, hint } = problem;
    const count = counts[problem.severity];
    if (count >= MAX_FINDINGS) return;
    const message = visibleText(problem.message);
    const key = JSON.stringify([code, message, at?.file, at?.line, at?.column]);
    if (seen.has(key)) return;
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
    words,
    error,
    warning,
    lost: (loses, message, at, hint) => {
      const whole = `${message}: ${CONSEQUENCE[loses]}`;
      if (lenient) warning('not-supported', whole, at, hint);
      else error('not-supported', whole, at, `${hint}; --lenient (lenient: true) goes without`);
    },
    add: (problems) => problems.forEach(put),
    near: (word, candidates) => (list.length < MAX_HINTS ? didYouMean(word, candidates) : undefined),
    nearest: (word, candidates) => (list.length < MAX_HINTS ? suggest(word, candidates) : undefined),
  };
}

/** Sorts problems in the order of the text: by first appearance of the file, then by line and column. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const files = new Map<string | undefined, number>();
  for (const { at } of problems) if (!files.has(at?.file)) files.set(at?.file, files.size);
  const rank = (problem: Problem): number => files.get(problem.at?.file) ?? 0;
  return problems.toSorted(
    (a, b) => rank(a) - rank(b) || (a.at?.line ?? 0) - (b.at?.line ?? 0) || (a.at?.column ?? 0) - (b.at?.column ?? 0),
  );
}
