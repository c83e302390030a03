import type { ErrorData } from '../../base/errors.js';
import type { Require } from '../../plan/plan.js';
import type { CompiledNode } from './compile.js';
import type { Choice } from './token.js';

export interface FailedPart {
  readonly path: string;
  readonly error: ErrorData;
}

/** Whether enough of a group has succeeded. */
export function isEnough(require: Require, succeeded: number, failed: number): boolean {
  return require === 'all' ? failed === 0 : succeeded >= require;
}

/** Number of branches that end with a node: 1 if nothing follows it. */
export function branchEnds({ exit, hops }: CompiledNode, choice: Choice | undefined): number {
  const isLast =
    choice === undefined
      ? hops.length === 0
      : choice.hops.length + choice.others.length === 0 && hops.every((hop) => hop.route >= 0);
  return exit || isLast ? 1 : 0;
}

const MOST_NAMED = 3;
const ONE = { branches: 'branch', items: 'item' } as const;

/** The error for too few successful parts of a group; `parts` is their name. */
export function tooFew(
  parts: 'branches' | 'items',
  require: Require,
  succeeded: number,
  failures: readonly FailedPart[],
): ErrorData {
  const wanted = require === 'all' ? 'all must' : `${require} must`;
  const named = failures.slice(0, MOST_NAMED).map(({ path, error }) => `${path}: ${error.message}`);
  const more = failures.length - named.length;
  const why = [...named, ...(more > 0 ? [`and ${more} more failed`] : [])].join('; ');
  return {
    code: 'SKEIN_REQUIRE',
    message: `${succeeded} ${succeeded === 1 ? ONE[parts] : parts} succeeded, and ${wanted}${why === '' ? '' : `: ${why}`}`,
    hint: 'mend what failed and resume: what succeeded is kept; or ask for fewer with require',
    details: { failures: failures.map(({ path, error: { code, message } }) => ({ path, code, message })) },
  };
}
