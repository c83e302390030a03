import { SkeinError, toErrorData, type ErrorData } from '../base/errors.js';
import { formatProblem, type Problem } from '../base/problem.js';
import { isPlainObject } from '../base/json.js';
import { jsonText, printable } from './view/printable.js';
import { printNote, printResult } from './view/streams.js';
import type { RunOutcome } from '../events/census.js';

export function printProblems(problems: readonly Problem[]): void {
  for (const problem of problems) printNote(printable(formatProblem(problem)));
}

/** Prints why something did not start. A defect in Skein itself is printed with its stack. */
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

/** Prints why something did not start as the document of `--json`, beside what stderr says. */
export function printRefusal(error: unknown): void {
  const known = SkeinError.isInstance(error);
  const data = toErrorData(error);
  printResult(
    refusalReport({
      problems: known ? problemsOf(error) : [],
      error: known ? data : { ...data, code: 'SKEIN_INTERNAL' },
      exitCode: exitCodeOfError(error),
    }),
  );
}

/** The document of every command with `--json` that refused before it did anything. */
export function refusalReport(refusal: {
  readonly problems: readonly Problem[];
  readonly error?: ErrorData;
  readonly exitCode?: number;
  /** What a document of the command would say of the file. */
  readonly valid?: false;
}): string {
  const { valid, error, problems, exitCode = EXIT.invalid } = refusal;
  return jsonText({ valid, outcome: 'invalid', exitCode, problems, error });
}

export function problemsOf(error: SkeinError): readonly Problem[] {
  const { problems } = (error.details ?? {}) as { readonly problems?: unknown };
  if (!Array.isArray(problems) || !problems.every(isProblem)) return [];
  // In details an unknown place is null.
  return (problems as readonly (Omit<Problem, 'at'> & { readonly at?: Problem['at'] | null })[]).map(
    ({ at, ...problem }) => (at == null ? problem : { ...problem, at }),
  );
}

/** Errors of programs may have details of any form. */
function isProblem(value: unknown): boolean {
  return isPlainObject(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string';
}

/** The meanings of the exit codes of `skein`. */
export const EXIT = {
  ok: 0,
  /** Wrong usage, an unusable store, or an unexpected error in Skein itself. */
  usage: 1,
  /** The definition or an input is invalid: nothing ran, nothing was written. */
  invalid: 2,
  failed: 3,
  /** A degraded run, under `--strict`. */
  degraded: 4,
  paused: 5,
  outOfBudget: 6,
  cancelled: 130,
} as const;

export function exitCodeOf(
  outcome: RunOutcome,
  { strict, error }: { readonly strict: boolean; readonly error?: ErrorData | undefined },
): number {
  if (outcome === 'degraded') return strict ? EXIT.degraded : EXIT.ok;
  if (outcome === 'failed' && error?.code === 'SKEIN_INTERNAL') return EXIT.usage;
  return EXIT_OF[outcome];
}

const EXIT_OF = {
  succeeded: EXIT.ok,
  failed: EXIT.failed,
  paused: EXIT.paused,
  out_of_budget: EXIT.outOfBudget,
  cancelled: EXIT.cancelled,
} as const;

/** Errors that no definition or input causes: an unusable store is a problem of the machine. */
const NOT_OF_INPUT: ReadonlySet<string> = new Set(['SKEIN_USAGE', 'SKEIN_INTERNAL', 'SKEIN_STORE']);

/** Returns the exit code of an error that kept something from starting. */
export function exitCodeOfError(error: unknown): number {
  if (!SkeinError.isInstance(error)) return EXIT.usage;
  if (error.code === 'SKEIN_CANCELLED') return EXIT.cancelled;
  // A conversation waits for an answer.
  if (error.code === 'SKEIN_QUESTION') return EXIT.paused;
  if (isOfBounds(error)) return EXIT.outOfBudget;
  return NOT_OF_INPUT.has(error.code) ? EXIT.usage : EXIT.invalid;
}

/** Whether a limit of a conversation refused a turn. */
export function isOfBounds(error: Pick<ErrorData, 'code'> | undefined): boolean {
  return error?.code === 'SKEIN_BUDGET' || error?.code === 'SKEIN_STATE_VISITS';
}
