import type { ErrorData } from '../../base/errors.js';
import type { Require } from '../../plan/plan.js';
import type { CompiledNode } from './compile.js';
import type { Choice } from './token.js';

/** A part of a group that failed. */
export interface FailedPart {
  readonly path: string;
  readonly error: ErrorData;
}

/** Whether as much of a group has succeeded as must. */
export function isEnough(require: Require, succeeded: number, failed: number): boolean {
  return require === 'all' ? failed === 0 : succeeded >= require;
}

/** How many branches end with a node that has run: 1 where nothing follows it. */
export function branchEnds({ exit, hops }: CompiledNode, choice: Choice | undefined): number {
  const isLast =
    choice === undefined
      ? hops.length === 0
      : choice.hops.length + choice.others.length === 0 && hops.every((hop) => hop.route >= 0);
  return exit || isLast ? 1 : 0;
}

const MOST_NAMED = 3;
const ONE = { branches: 'branch', items: 'item' } as const;

/** Fewer parts of a group succeeded than must; `parts` is what they are called. */
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
