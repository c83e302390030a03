import { SkeinError } from '../../base/errors.js';
import { EXIT } from '../failures.js';
import { endNow } from '../view/streams.js';

/** A watch for signals that ask this program to end. */
export interface Interrupt {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Restores the default: signals end the process. */
  release(): void;
}

export interface InterruptSurroundings {
  /** A clock, in milliseconds. */
  readonly now: () => number;
  readonly end: () => void;
}

/** Within this time a repeated signal is the same key press: `npm` and `timeout` forward what the terminal has sent to all. */
const SAME_PRESS_MS = 500;

const REAL: InterruptSurroundings = { now: () => performance.now(), end: () => endNow(EXIT.cancelled) };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first signal cancels the run, so that children end and the audit folder is complete; the second ends the process at once. */
export function watchInterrupt(onFirst: (name: string) => void, { now, end } = REAL): Interrupt {
  const controller = new AbortController();
  let first: { readonly name: string; readonly at: number } | undefined;
  const listener = (name: NodeJS.Signals): void => {
    if (first !== undefined) {
      if (name !== first.name || now() - first.at >= SAME_PRESS_MS) end();
      return;
    }
    first = { name, at: now() };
    onFirst(name);
    controller.abort(new SkeinError('SKEIN_CANCELLED', `cancelled by ${name}`));
  };
  for (const name of SIGNALS) process.on(name, listener);
  return {
    signal: controller.signal,
    release() {
      for (const name of SIGNALS) process.off(name, listener);
    },
  };
}
