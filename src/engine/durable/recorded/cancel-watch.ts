import type { Clock } from '../../../base/clock.js';
import type { ErrorData } from '../../../base/errors.js';
import { toErrorData } from '../../../base/errors.js';
import type { Store } from '../../../journal/store.js';

/** How often it is looked whether somebody wants the run cancelled, in milliseconds. */
const WATCH_MS = 500;

/** What the watch needs. */
export interface WatchOptions {
  readonly runId: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly cancelled: () => void;
  readonly broken: (error: ErrorData) => void;
}

/** Looks for a request to cancel, from another process. Gives what stops it. */
export function watchForCancel(options: WatchOptions): () => void {
  const { clock, store, runId } = options;
  const look = (): void => {
    try {
      if (store.run(runId)?.cancelRequested === true) options.cancelled();
      stop = clock.setTimer(WATCH_MS, look);
    } catch (error) {
      options.broken(toErrorData(error));
    }
  };
  let stop = clock.setTimer(WATCH_MS, look);
  return () => stop();
}
