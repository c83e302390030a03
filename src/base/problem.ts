import { SkeinError } from './errors.js';
import type { Json } from './json.js';

/** A place in a text file. Lines and columns start at 1. */
export interface Position {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
}

/**
 * A finding about a definition. Problems are collected, never thrown one by one: `validate` shows all of them at once.
 * An `error` prevents a run of the definition, a `warning` does not.
 */
export interface Problem {
  /** Stable code such as `unknown-step`; each check documents its own. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly at?: Position;
  /** Path in the data, for definitions without a file: `steps[2].prompt`. */
  readonly path?: string;
  /** What to do next. */
  readonly hint?: string;
  /** Set for a warning that prevents a run: the definition can still be viewed. */
  readonly holds?: true;
}

/**
 * Formats one problem as text: `file:line:column: error code: message (hint)`.
 *
 * @example
 * formatProblem({ code: 'no-steps', severity: 'error', message: 'a workflow needs at least one step' });
 */
export function formatProblem(problem: Problem): string {
  const at = problem.at;
  const file = at?.file === undefined ? '' : `${at.file}:`;
  const place =
    at === undefined ? (problem.path === undefined ? '' : `${problem.path}: `) : `${file}${at.line}:${at.column}: `;
  const hint = problem.hint === undefined ? '' : `\n    hint: ${problem.hint}`;
  return `${place}${problem.severity} ${problem.code}: ${problem.message}${hint}`;
}

/** Returns the problems with warnings raised to errors. */
export function asErrors(problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => (problem.severity === 'error' ? problem : { ...problem, severity: 'error' }));
}

/** Returns the problems that prevent a run of a definition that can be viewed. */
export function holdingBack(problems: readonly Problem[]): readonly Problem[] {
  return asErrors(problems.filter(({ holds }) => holds === true));
}

/**
 * True if at least one problem is an error.
 *
 * @example
 * if (hasErrors(problems)) process.exitCode = 2;
 */
export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}

/** The error of a definition that cannot be used: all problems are in `details.problems`, the errors also in the message. */
export function definitionError(problems: readonly Problem[]): SkeinError {
  const errors = problems.filter((problem) => problem.severity === 'error');
  return new SkeinError('SKEIN_DEFINITION', errors.map(formatProblem).join('\n'), { details: detailsOf(problems) });
}

/** Most problems of a file to tell; further ones repeat the first. */
const MOST_TOLD = 50;

/** The error of a file other than a workflow; `what` says that it has problems. */
export function fileError(what: string, all: readonly Problem[], hint: string): SkeinError {
  const problems = all.slice(0, MOST_TOLD);
  const message = `${what}:\n${problems.map(formatProblem).join('\n')}`;
  return new SkeinError('SKEIN_DEFINITION', message, { hint, details: detailsOf(problems) });
}

function detailsOf(problems: readonly Problem[]): { readonly problems: readonly Json[] } {
  return { problems: problems.map(({ at, ...problem }) => ({ ...problem, at: at === undefined ? null : { ...at } })) };
}

/** The error of a call that is wrong by its arguments. */
export function refusal(code: string, message: string, hint: string): SkeinError {
  return definitionError([{ code, severity: 'error', message, hint }]);
}

/** A place in data, as text and as the keys that lead to it. Both are computed only on request, because most data is correct. */
export class DataPlace {
  constructor(
    /** Name of the root value in texts; empty for none. */
    private readonly own: string,
    private readonly parent?: DataPlace,
    private readonly key?: string,
  ) {}

  /** The value of a key that the format defines. */
  field(key: string): DataPlace {
    return new DataPlace('field', this, key);
  }

  /** The value of a key that the author chose. */
  named(key: string): DataPlace {
    return new DataPlace('named', this, key);
  }

  item(index: number): DataPlace {
    return new DataPlace('item', this, String(index));
  }

  get text(): string {
    const { own, parent, key = '' } = this;
    if (parent === undefined) return own;
    const before = parent.text;
    if (own === 'field') return before === '' ? key : `${before}.${key}`;
    return own === 'named' ? `${before}[${JSON.stringify(key)}]` : `${before}[${key}]`;
  }

  get keys(): readonly string[] {
    return this.parent === undefined ? [] : [...this.parent.keys, this.key ?? ''];
  }
}
