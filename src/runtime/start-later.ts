import { whenAborted } from '../base/aborts.js';
import { SkeinError } from '../base/errors.js';
import type { RunHandle } from '../engine/run-result.js';

/** Ends a run that has not started yet. Once it has started, its handle does. */
export interface Stop {
  readonly signal: AbortSignal;
  /** Cancels the run before it does anything. */
  readonly abort: (reason: SkeinError) => void;
  /** Lets go of the signal of the caller, which may outlive many runs. */
  readonly release: () => void;
}

/**
 * Returns what ends a run before it starts, also when the caller's signal is aborted. The run is then started with the signal of this, so
 * that no cancellation is lost between the two.
 */
export function stopOf({ signal }: { readonly signal?: AbortSignal | undefined }): Stop {
  const stop = new AbortController();
  const release = whenAborted(signal, () => stop.abort(signal?.reason));
  return { signal: stop.signal, abort: (reason) => stop.abort(reason), release };
}

/** The handle of a run that waits before it starts: for its record, its turn, or the code that carries it out. */
export function startLater(runId: string, stop: Stop, starting: Promise<RunHandle>): RunHandle {
  // A run that has started is cancelled by its own handle: a second cancellation then ends what the first one left time for.
  let started: RunHandle | undefined;
  const result = starting.then((handle) => {
    started = handle;
    return handle.result;
  });
  return {
    runId,
    result: result.finally(stop.release),
    cancel(reason = 'the run was cancelled') {
      if (started === undefined) stop.abort(new SkeinError('SKEIN_CANCELLED', reason));
      else started.cancel(reason);
    },
  };
}
