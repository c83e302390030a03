import type { Position, Problem } from '../../base/problem.js';

/** Where a notation puts what it finds wrong. */
export interface Findings {
  readonly list: Problem[];
  error(code: string, message: string, at: Position | undefined, hint?: string): void;
  warning(code: string, message: string, at: Position | undefined, hint?: string): void;
  /** Takes over problems that another reader found. */
  add(problems: readonly Problem[]): void;
}

/**
 * An empty list of findings. The same finding at the same place is kept once.
 *
 * @example
 * const findings = createFindings();
 * findings.error('no-steps', 'the workflow has no steps', root.at);
 */
export function createFindings(): Findings {
  const list: Problem[] = [];
  const seen = new Set<string>();
  const put = (problem: Problem): void => {
    const { code, message, at } = problem;
    const key = JSON.stringify([code, message, at?.file, at?.line, at?.column]);
    if (seen.has(key)) return;
    seen.add(key);
    list.push(problem);
  };
  const make = (severity: Problem['severity']): Findings['error'] => {
    return (code, message, at, hint) => {
      put({ code, severity, message, ...(at === undefined ? {} : { at }), ...(hint === undefined ? {} : { hint }) });
    };
  };
  return { list, error: make('error'), warning: make('warning'), add: (problems) => problems.forEach(put) };
}

/**
 * Problems in the order of the text: by file in order of first appearance, then line, then column.
 *
 * @example
 * sortProblems(findings.list);
 */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const files = new Map<string | undefined, number>();
  for (const { at } of problems) if (!files.has(at?.file)) files.set(at?.file, files.size);
  const rank = (problem: Problem): number => files.get(problem.at?.file) ?? 0;
  return problems.toSorted(
    (a, b) => rank(a) - rank(b) || (a.at?.line ?? 0) - (b.at?.line ?? 0) || (a.at?.column ?? 0) - (b.at?.column ?? 0),
  );
}
