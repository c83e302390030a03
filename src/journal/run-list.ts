import { systemClock } from '../base/clock.js';
import { SkeinError } from '../base/errors.js';
import { isAnswerable, readRun, statusOfRow } from './overview.js';
import type { RunOverview, RunStatus, StepOverview } from './run-overview.js';
import { isHeld, type RunRow, type RunStanding, type Store } from './store.js';
import { threadOfRun } from './thread-rows.js';

/** A run in a list. */
export interface RunSummary extends Pick<RunOverview, 'id' | 'name' | 'status' | 'beganAt' | 'ms'> {
  /** Number of steps with an end, as counted by its last session. */
  readonly steps: number;
  /** Number of open questions and events. */
  readonly pauses: number;
  /** The run that it was forked from. */
  readonly parent?: string;
  /** The thread that it is a turn of. */
  readonly thread?: string;
  /** Why its record is unreadable. */
  readonly problem?: string;
}

/**
 * Lists runs, newest first, at most `limit`. A run with an unreadable record is listed with the reason. Data of a run in progress is at
 * most some seconds old. Reads the record of a run only if its standing is not stored, because its process died or an older Skein wrote it;
 * the standing is then stored.
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

/** A question with an answer is not open, even if the run has not taken the answer yet. */
function openQuestions(store: Store, id: string, status: RunStatus, { pauses }: RunStanding): number {
  if (pauses.length === 0 || !isAnswerable(status)) return 0;
  const given = new Set(store.answers(id).map((answer) => `${answer.key} ${answer.id}`));
  return pauses.filter((pause) => !given.has(`${pause.key} ${pause.id}`)).length;
}

/** Returns the standing of a run from its record, and stores it for later look-ups. */
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
    // Runs of a read-only store can still be listed.
  }
  return standing;
}
