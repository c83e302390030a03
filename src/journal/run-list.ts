import { systemClock } from '../base/clock.js';
import { SkeinError } from '../base/errors.js';
import type { RunOverview, RunStatus, StepOverview } from './overview.js';
import { isOver, readRun, statusOfRow } from './overview.js';
import type { RunRow, RunStanding, Store } from './store.js';
import { isHeld } from './store.js';
import { threadOfRun } from './thread-rows.js';

/** A run in a list. */
export interface RunSummary extends Pick<RunOverview, 'id' | 'name' | 'status' | 'beganAt' | 'ms'> {
  /** Steps with an end, as its last session counted them. */
  readonly steps: number;
  /** Questions and events that it waits for. */
  readonly pauses: number;
  /** The run that it was forked from. */
  readonly parent?: string;
  /** The thread that it is a turn of. */
  readonly thread?: string;
  /** Why its record can't be read. */
  readonly problem?: string;
}

/**
 * Runs, newest first, the first `limit` of them. One whose record can't be read is in the list, with what is the matter. What is reported of a
 * run that runs is some seconds old at most. The record of a run is gone through only where nothing was noted: when its process died,
 * or when an older Skein wrote it; then that is noted, too.
 *
 * @throws SkeinError `SKEIN_STORE`
 * @example
 * for (const { id, name, status } of listRuns(store)) console.log(id, name, status);
 */
export function listRuns(store: Store, limit = Number.POSITIVE_INFINITY): readonly RunSummary[] {
  const rows = store.list();
  const now = systemClock.now();
  return rows.slice(0, Math.min(limit, rows.length)).map((row) => summary(store, row, now));
}

const OPEN: ReadonlySet<StepOverview['outcome']> = new Set(['running', 'interrupted', 'paused']);

function summary(store: Store, row: RunRow, now: number): RunSummary {
  const { id, name, createdAt, parent, damage } = row;
  const thread = threadOfRun(row);
  const above = thread !== undefined ? { thread } : parent === undefined ? {} : { parent };
  const held = isHeld(row, now);
  try {
    if (damage !== undefined) throw new SkeinError('SKEIN_JOURNAL', damage);
    const { standing } = row;
    const known = standing !== undefined && (held || standing.batches === row.batches) ? standing : lifted(store, row);
    const status = statusOfRow(row, now);
    const { ms, steps } = known;
    const pauses = openQuestions(store, id, status, known);
    return { id, name, beganAt: createdAt, ...above, status, ms, steps, pauses };
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_JOURNAL') throw error;
    const status = held ? 'running' : 'interrupted';
    return { id, name, beganAt: createdAt, ...above, status, ms: 0, steps: 0, pauses: 0, problem: error.message };
  }
}

/** Questions that have an answer wait for nobody, also when the run has not taken it yet. */
function openQuestions(store: Store, id: string, status: RunStatus, { pauses }: RunStanding): number {
  if (pauses.length === 0 || isOver(status)) return 0;
  const given = new Set(store.answers(id).map((answer) => `${answer.key} ${answer.id}`));
  return pauses.filter((pause) => !given.has(`${pause.key} ${pause.id}`)).length;
}

/** How a run stands, from its record. It is noted, so that nobody has to go through that again. */
function lifted(store: Store, { id, batches }: RunRow): RunStanding {
  const { ms, steps, questions } = readRun(store, id);
  const ended = steps.filter(({ outcome }) => !OPEN.has(outcome));
  const standing = {
    batches,
    steps: ended.length,
    ms,
    pauses: questions.map(({ key, id: asked }) => ({ key, id: asked })),
  };
  try {
    store.stand(id, standing);
  } catch {
    // A store that can't be written to can be listed all the same.
  }
  return standing;
}
