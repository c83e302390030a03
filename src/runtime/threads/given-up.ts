import { systemClock } from '../../base/clock.js';
import type { ErrorData } from '../../base/errors.js';
import type { RunOutcome } from '../../events/outcome.js';
import type { Store } from '../../journal/store.js';
import type { ThreadHead } from '../../journal/thread-journal.js';
import { endedWithoutSuccess, threadOfRun } from '../../journal/thread-rows.js';
import type { ThreadWriter } from '../../journal/thread-writer.js';

/** A turn that is noted as begun, and whose run has no success to come: it is gone, was cancelled from outside, or failed in a process that died then. */
export interface GivenUp {
  readonly run: string;
  readonly turn: number;
  readonly on: number;
  readonly outcome: RunOutcome;
  /** Nothing is there that could be tried again. */
  readonly error?: ErrorData;
}

const GONE: ErrorData = { code: 'SKEIN_NO_RUN', message: 'its run is not recorded' };

/** The last turn of a thread, where it is given up; undefined when it has ended, runs, waits or can be resumed. */
export function givenUpTurn(store: Store, { id, record }: ThreadHead): GivenUp | undefined {
  if (record.t !== 'turn') return undefined;
  const { run, turn, on } = record;
  const row = store.run(run);
  if (row === undefined || threadOfRun(row) !== id) return { run, turn, on, outcome: 'failed', error: GONE };
  const outcome = endedWithoutSuccess(row);
  return outcome === undefined ? undefined : { run, turn, on, outcome };
}

/** Notes the end of a turn that is given up: it does not count. */
export function passOver(writer: ThreadWriter, turn: GivenUp): void {
  const at = systemClock.now();
  writer.write({ at, head: () => ({ t: 'ended', at, ...turn }), turns: turn.turn });
}
