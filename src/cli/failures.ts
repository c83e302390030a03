import { SkeinError } from '../base/errors.js';
import type { Problem } from '../base/problem.js';
import { formatProblem } from '../base/problem.js';
import { printable } from './view/printable.js';
import { printNote } from './view/streams.js';

/** Prints all problems of a definition. */
export function printProblems(problems: readonly Problem[]): void {
  for (const problem of problems) printNote(printable(formatProblem(problem)));
}

/**
 * Prints why something did not start. A defect of Skein itself comes with its stack.
 *
 * @example
 * printFailure(new SkeinError('SKEIN_USAGE', 'no file is given', { hint: 'skein run FILE' }));
 */
export function printFailure(error: unknown): void {
  if (SkeinError.isInstance(error)) {
    const problems = problemsOf(error);
    if (problems.length > 0) {
      printProblems(problems);
      return;
    }
    printNote(`error ${error.code}: ${printable(error.message)}`);
    if (error.hint !== undefined) printNote(`    hint: ${printable(error.hint)}`);
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  printNote(`unexpected error in skein: ${printable(text)}`);
}

/** The problems that an error carries. */
export function problemsOf(error: SkeinError): readonly Problem[] {
  const { details } = error;
  if (typeof details !== 'object' || details === null || !('problems' in details)) return [];
  const { problems } = details as { readonly problems: unknown };
  return Array.isArray(problems) ? (problems as readonly Problem[]) : [];
}
