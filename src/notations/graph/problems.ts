import { SkeinError } from '../../base/errors.js';
import type { Json } from '../../base/json.js';
import type { Problem } from '../../base/problem.js';
import { formatProblem } from '../../base/problem.js';

/** The error of a graph that can't be compiled: all problems are in `details.problems`, the errors also in the message. */
export function definitionError(problems: readonly Problem[]): SkeinError {
  const errors = problems.filter((problem) => problem.severity === 'error');
  const details = { problems: problems.map((problem): Json => ({ ...problem, at: null })) };
  return new SkeinError('SKEIN_DEFINITION', errors.map(formatProblem).join('\n'), { details });
}

/** The error of a call that can be seen to be wrong at once. */
export function refusal(code: string, message: string, hint: string): SkeinError {
  return definitionError([{ code, severity: 'error', message, hint }]);
}
