import { checkOptions } from '../base/options.js';
import { systemClock } from '../base/clock.js';
import { SkeinError } from '../base/errors.js';
import { ENDED, type RunRow, type Store } from './store.js';

/** Which runs to remove. A run must meet both criteria if both are given. */
export interface PruneOptions {
  /** Number of ended runs to keep, the newest ones. */
  readonly keep?: number;
  /** Remove only runs that ended longer ago than this, in milliseconds. */
  readonly olderThanMs?: number;
}

/** The number of removed runs, and why the others were kept. */
export interface PruneResult {
  /** Ids of the removed runs. */
  readonly removed: readonly string[];
  /** Runs that ended, but are recent enough. */
  readonly recent: number;
  /** Runs that are running, paused, out of budget or interrupted: they may be continued. */
  readonly unfinished: number;
  /** Runs that other kept runs were forked from. */
  readonly parents: number;
}

/**
 * Removes old runs with all their records. Removes only runs that have ended; a run that others were forked from stays as long as one of
 * these does.
 *
 * @throws SkeinError `SKEIN_USAGE` if neither criterion is given, and for options that do not exist; `SKEIN_STORE`
 * @example
 * const { removed } = pruneRuns(store, { keep: 100, olderThanMs: 30 * 24 * 3_600_000 });
 */
export function pruneRuns(store: Store, options: PruneOptions, now: number = systemClock.now()): PruneResult {
  checkOptions<PruneOptions>('pruneRuns', options, { keep: 'a number', olderThanMs: 'a number' });
  const { keep, olderThanMs } = options;
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
