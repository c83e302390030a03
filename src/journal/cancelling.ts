import { hostname } from 'node:os';
import { systemClock } from '../base/clock.js';
import { SkeinError } from '../base/errors.js';
import { systemIds } from '../base/ids.js';
import { emptyCensus } from '../events/census.js';
import { encodeRecord } from './codec.js';
import { Journal, type JournalOwner } from './journal.js';
import { readHistory } from './session.js';
import { ENDED, type Lease, type Store } from './store.js';

/** What became of a run that no process had: it is cancelled, or it had already ended. */
type FreeOutcome = 'cancelled' | 'ended';

/**
 * Cancels a run that no process has. Returns undefined while one has it.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 */
export function cancelFree(store: Store, runId: string): FreeOutcome | undefined {
  const lease = tryLease(store, runId);
  return lease === undefined ? undefined : recordCancelled(store, lease);
}

/** Returns undefined while another process has the run. */
function tryLease(store: Store, runId: string): Lease | undefined {
  const holder = { id: systemIds.next(), host: hostname(), pid: process.pid };
  try {
    return store.lease(runId, holder, systemClock.now());
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_LEASE') return undefined;
    throw error;
  }
}

/** Records a session that only ends. The run may have ended before it was leased. */
function recordCancelled(store: Store, lease: Lease): FreeOutcome {
  const at = systemClock.now();
  let end = { outcome: 'interrupted', endedAt: at };
  try {
    const history = readHistory(store, lease.runId);
    const last = history.sessions.at(-1)?.end;
    if (last !== undefined && ENDED.has(last.outcome)) {
      end = { outcome: last.outcome, endedAt: last.at };
      return 'ended';
    }
    if (history.cut !== undefined) store.cut(lease, history.batches);
    const journal = new Journal(store, lease, history, NOBODY);
    journal.write(encodeRecord({ t: 'open', at, fence: lease.fence }));
    journal.write(encodeRecord({ t: 'end', at, outcome: 'cancelled', census: last?.census ?? emptyCensus() }));
    journal.close();
    end = { outcome: 'cancelled', endedAt: at };
    return 'cancelled';
  } finally {
    store.release(lease, end);
  }
}

/** The journal is only closed, so its owner has nothing to do. */
const NOBODY: JournalOwner = {
  quiet: false,
  standing: () => undefined,
  committed: () => undefined,
  broken: () => undefined,
};
