import { present } from '../../base/json.js';
import type { Position, Problem } from '../../base/problem.js';

/** Where something of a tree stands: in a file, or in the data. */
export interface TreePlace {
  readonly at?: Position | undefined;
  readonly path: string;
}

/** Collects what is wrong with a tree. */
export class TreeFindings {
  readonly problems: Problem[] = [];

  error(code: string, message: string, place: TreePlace, hint?: string): void {
    this.add({ code, severity: 'error', message }, place, hint);
  }

  warning(code: string, message: string, place: TreePlace, hint?: string): void {
    this.add({ code, severity: 'warning', message }, place, hint);
  }

  private add(problem: Problem, { at, path }: TreePlace, hint: string | undefined): void {
    const where = path === '' ? undefined : path;
    this.problems.push(present({ ...problem, at, path: where, hint }));
  }
}

/** A place deeper inside. */
export function within(place: string, part: string): string {
  return place === '' ? part : `${place}.${part}`;
}
