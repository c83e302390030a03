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
 * An `error` keeps the definition from running, a `warning` does not.
 */
export interface Problem {
  /** Stable code such as `unknown-step`; each check documents its own. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly at?: Position;
  /** Where in the data, for definitions without a file: `steps[2].prompt`. */
  readonly path?: string;
  /** What to do next. */
  readonly hint?: string;
  /** Of a warning: the definition can be looked at, but no run of it starts. */
  readonly holds?: true;
}

/**
 * One problem as a line of text: `file:line:column: error code: message (hint)`.
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

/** Problems of which none is a mere warning. */
export function asErrors(problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => (problem.severity === 'error' ? problem : { ...problem, severity: 'error' }));
}

/** What keeps a definition that can be looked at from being run. */
export function holdingBack(problems: readonly Problem[]): readonly Problem[] {
  return asErrors(problems.filter(({ holds }) => holds === true));
}

/**
 * True when at least one problem is an error.
 *
 * @example
 * if (hasErrors(problems)) process.exitCode = 2;
 */
export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}

/** The error of a graph that can't be compiled: all problems are in `details.problems`, the errors also in the message. */
export function definitionError(problems: readonly Problem[]): SkeinError {
  const errors = problems.filter((problem) => problem.severity === 'error');
  const details = {
    problems: problems.map(({ at, ...problem }): Json => ({ ...problem, at: at === undefined ? null : { ...at } })),
  };
  return new SkeinError('SKEIN_DEFINITION', errors.map(formatProblem).join('\n'), { details });
}

/** The error of a call that can be seen to be wrong at once. */
export function refusal(code: string, message: string, hint: string): SkeinError {
  return definitionError([{ code, severity: 'error', message, hint }]);
}

/**
 * Where something stands in data: as text for people, and as the keys that lead there. Both are put together when they are asked for: most data is
 * right, and no one asks.
 * `new DataPlace('workflow').field('states').named('a b').text` gives `'workflow.states["a b"]'`.
 */
export class DataPlace {
  constructor(
    /** How the whole is called in texts; empty for none. */
    private readonly own: string,
    private readonly parent?: DataPlace,
    private readonly key?: string,
  ) {}

  /** The value of a key that the form defines. */
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
