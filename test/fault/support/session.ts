import type { PauseRecord } from '../../../src/journal/record.js';
import { readHistory } from '../../../src/journal/session.js';
import type { Store } from '../../../src/journal/store.js';
import { changeBudget, run, type RunOptions } from '../../../src/runtime.js';
import type { RunResult } from '../../../src/engine/run.js';
import type { Built } from './shapes.js';

/** Runs or resumes once. */
export async function session(built: Built, store: Store, options: Partial<RunOptions>): Promise<RunResult> {
  return await run(built.workflow, { ...built.options, store, ...options }).result;
}

/** What a person answers; `done` says whether the effect of a key reached its receiver. */
export function answerTo({ key, question }: PauseRecord, done: (key: string) => boolean): unknown {
  if (/[.@]outcome$/.test(key)) return done(key.slice(0, -'.outcome'.length)) ? 'it was done' : 'run it';
  if (key.endsWith('@human')) return 'approve';
  // The guard is allowed one call and refused the next one.
  if (key.endsWith('@ask:guard#3.1')) return 'deny';
  return question?.choices?.[0] ?? 'Ada';
}

/** Answers every open question of a run; gives how many there were. */
export function answerAll(store: Store, runId: string, done: (key: string) => boolean): number {
  const { pauses } = readHistory(store, runId);
  for (const pause of pauses.values()) {
    const value = JSON.stringify(answerTo(pause, done));
    store.answer(runId, { key: pause.key, id: pause.id, value, at: Date.now(), by: 'code' });
  }
  return pauses.size;
}

/** Goes on until a run does not wait for answers any more, nor for budget: a call that was lost is paid for again. */
export async function complete(
  built: Built,
  store: Store,
  first: Partial<RunOptions>,
  done: (key: string) => boolean,
): Promise<RunResult> {
  let result = await session(built, store, first);
  for (let rounds = 0; WAITING.has(result.outcome) && rounds < 20; rounds++) {
    if (result.outcome === 'paused') answerAll(store, result.runId, done);
    else changeBudget(store, result.runId, { budget: '+2-calls' });
    result = await session(built, store, { resume: result.runId });
  }
  return result;
}

const WAITING: ReadonlySet<RunResult['outcome']> = new Set(['paused', 'out_of_budget']);
