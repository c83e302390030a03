import { nodePathOf, stepOf } from '../base/address.js';
import type { Slices } from '../base/slices.js';
import { lookAt } from '../base/slices.js';
import type { RunHistory } from '../journal/history.js';

/**
 * Which steps have something recorded that was worked for, by the ids of their nodes, and those around them.
 *
 * @example
 * finishedIn([history])('review/critic'); // a visit, a round or an item of it has a result
 */
export function finishedIn(histories: readonly RunHistory[]): (path: string) => boolean {
  const done = new Set<string>();
  const seen = new Set<string>();
  for (const { entries } of histories) {
    for (const [key, list] of entries) {
      if (!isWork(key) || list.every(({ kind }) => kind !== 'success')) continue;
      const path = nodePathOf(stepOf(key));
      if (seen.has(path)) continue;
      seen.add(path);
      const ids = path.split('/');
      for (const at of ids.keys()) done.add(ids.slice(0, at + 1).join('/'));
    }
  }
  return (path) => done.has(path);
}

/** Indexes of the sessions in which something was worked for. */
export function* sessionsWithWork({ entries, sessions }: RunHistory): Slices<ReadonlySet<number>> {
  const found = new Set<number>();
  yield* lookAt(entries, ([key, list]) => {
    if (found.size === sessions.length) return;
    for (const { kind, session } of list)
      if (kind === 'success' && !found.has(session) && isWork(key)) found.add(session);
  });
  return found;
}

/** Opening and closing what a step needs is not part of its work. */
function isWork(key: string): boolean {
  const name = key.slice(stepOf(key).length);
  return name === '' || WORK.test(name);
}

const WORK = /^@(?:model#|tool#|run:|answer|timer|event)/;
