import { leavingKey } from '../base/address.js';
import type { Clock } from '../base/clock.js';
import { isHeld, type Answer, type Lease, type Store } from './store.js';

/**
 * A session that has looked for answers and changes of the budget for the last time notes that among the answers. The note has the number of
 * answers that there were before this look. It counts if it is the next one: then the session has seen all that came before. So the session
 * and who resumes the run agree on what it has seen, and no answer falls between its last look and its end.
 */

/**
 * Lets a session look until nothing has come while it looked. `look` returns false if the run continues with what it found.
 *
 * @returns whether the session takes no more answers
 * @throws SkeinError `SKEIN_STORE`
 */
export function foundNothing(store: Store, lease: Lease, clock: Clock, look: () => boolean): boolean {
  for (;;) {
    const seen = store.answers(lease.runId).length;
    if (!look()) return false;
    if (noteLeaving(store, lease, seen, clock.now())) return true;
  }
}

function noteLeaving(store: Store, { runId, fence }: Lease, seen: number, now: number): boolean {
  const before = store.answers(runId);
  if (before.length > seen) return false;
  if (isNote(before.at(-1), seen - 1, fence)) return true;
  store.answer(runId, { key: leavingKey(fence), id: String(seen), at: now, by: 'run' });
  return isNote(store.answers(runId)[seen], seen, fence);
}

/** True while a process holds a run and takes no more answers: in a moment, the run can be resumed. */
export function isLeaving(store: Store, runId: string, now: number): boolean {
  const row = store.run(runId);
  if (row === undefined || !isHeld(row, now)) return false;
  return store.answers(runId).some((answer, at) => isNote(answer, at, row.fence));
}

function isNote(answer: Answer | undefined, at: number, fence: number): boolean {
  return answer !== undefined && answer.key === leavingKey(fence) && answer.id === String(at);
}
