import { systemClock } from '../base/clock.js';
import { SkeinError } from '../base/errors.js';
import type { RunRow, Store } from './store.js';
import { ENDED } from './store.js';

/** Which runs go. With both, a run goes when both say so. */
export interface PruneOptions {
  /** So many of the runs that have ended stay, the newest. */
  readonly keep?: number;
  /** Only runs that ended longer ago than this, in milliseconds. */
  readonly olderThanMs?: number;
}

/** What went, and why the others stay. */
export interface PruneResult {
  /** Ids of the runs that were removed. */
  readonly removed: readonly string[];
  /** Ended, but new enough. */
  readonly recent: number;
  /** Running, paused, out of budget or interrupted: somebody may continue them. */
  readonly unfinished: number;
  /** Other runs that stay were forked from them. */
  readonly parents: number;
}

/**
 * Removes old runs with all that was recorded of them. Only runs that have ended go; a run that others were forked from stays as long as
 * one of these does.
 *
 * @throws SkeinError `SKEIN_USAGE` when nothing says which ones; `SKEIN_STORE`
 * @example
 * const { removed } = pruneRuns(store, { keep: 100, olderThanMs: 30 * 24 * 3_600_000 });
 */
export function pruneRuns(
  store: Store,
  { keep, olderThanMs }: PruneOptions,
  now: number = systemClock.now(),
): PruneResult {
  if (keep === undefined && olderThanMs === undefined) {
    throw new SkeinError('SKEIN_USAGE', 'it is not clear which runs to remove', {
      hint: 'give keep or olderThanMs',
    });
  }
  const rows = store.list();
  const ended = rows.filter(({ holder, outcome }) => holder === undefined && ENDED.has(outcome));
  const goes = (row: RunRow, place: number): boolean => {
    const crowded = keep === undefined || place >= keep;
    return crowded && (olderThanMs === undefined || now - (row.endedAt ?? row.createdAt) > olderThanMs);
  };
  const going = ended.filter(goes).map((row) => row.id);
  const removed = going.length === 0 ? [] : store.remove(going, now);
  return {
    removed,
    recent: ended.length - going.length,
    unfinished: rows.length - ended.length,
    parents: going.length - removed.length,
  };
}
