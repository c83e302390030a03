import { expect, test } from 'vitest';
import type { PruneResult } from '../../src/journal/pruning.js';
import { pruneRuns } from '../../src/journal/pruning.js';
import { memoryStore } from '../../src/stores/memory.js';
import { thrown } from '../thrown.js';

const HOLDER = { id: 'x', host: 'elsewhere', pid: 1 };

/** Runs that were created one second after the other and ended, or not, after another half. */
function store(runs: readonly { readonly id: string; readonly outcome?: string; readonly parent?: string }[]) {
  const made = memoryStore();
  runs.forEach(({ id, outcome, parent }, at) => {
    const createdAt = (at + 1) * 1_000;
    const own = parent === undefined ? {} : { parent };
    const lease = made.create({ id, name: 'flow', createdAt, ...own }, HOLDER, createdAt);
    if (outcome !== undefined) made.release(lease, { outcome, endedAt: createdAt + 500 });
  });
  return made;
}

const ids = (made: ReturnType<typeof store>): readonly string[] => made.list().map((run) => run.id);

/** Stores remove runs in an order of their own. */
const sorted = (result: PruneResult): PruneResult => ({ ...result, removed: result.removed.toSorted() });

test('the newest runs that have ended stay', () => {
  const made = store([
    { id: 'a', outcome: 'succeeded' },
    { id: 'b', outcome: 'failed' },
    { id: 'c', outcome: 'degraded' },
    { id: 'd', outcome: 'cancelled' },
  ]);
  expect(sorted(pruneRuns(made, { keep: 2 }, 9_000))).toEqual({
    removed: ['a', 'b'],
    recent: 2,
    unfinished: 0,
    parents: 0,
  });
  expect(ids(made)).toEqual(['d', 'c']);
});

test('runs go by the time since they ended, and by both when both are given', () => {
  const runs = ['a', 'b', 'c'].map((id) => ({ id, outcome: 'succeeded' }));
  // They ended at 1,500, 2,500 and 3,500.
  expect(pruneRuns(store(runs), { olderThanMs: 1_000 }, 3_500).removed).toEqual(['a']);
  expect(sorted(pruneRuns(store(runs), { olderThanMs: 999 }, 3_500)).removed).toEqual(['a', 'b']);
  expect(pruneRuns(store(runs), { olderThanMs: 999, keep: 2 }, 3_500).removed).toEqual(['a']);
});

test('what somebody may go on with stays', () => {
  const made = store([
    { id: 'paused', outcome: 'paused' },
    { id: 'interrupted', outcome: 'interrupted' },
    { id: 'broke', outcome: 'out_of_budget' },
    { id: 'running' },
    { id: 'done', outcome: 'succeeded' },
  ]);
  expect(pruneRuns(made, { keep: 0 }, 1e9)).toEqual({ removed: ['done'], recent: 0, unfinished: 4, parents: 0 });
});

test('a run stays as long as a fork of it does', () => {
  const made = store([
    { id: 'a', outcome: 'succeeded' },
    { id: 'b', outcome: 'succeeded', parent: 'a' },
    { id: 'c', outcome: 'paused', parent: 'b' },
    { id: 'd', outcome: 'succeeded' },
  ]);
  expect(pruneRuns(made, { keep: 0 }, 9_000)).toEqual({ removed: ['d'], recent: 0, unfinished: 1, parents: 2 });
});

test('something must say which runs go', () => {
  expect(thrown(() => pruneRuns(store([]), {}, 0)).code).toBe('SKEIN_USAGE');
});
