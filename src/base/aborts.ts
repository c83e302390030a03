/** Those who wait until a signal is aborted. */
interface Waiting {
  /** What they do, in the order in which they came. */
  readonly acts: Set<() => void>;
  /** The only listener of the signal; it goes with the last one who waits. */
  readonly listener: () => void;
}

/** By signal; a signal that nobody waits for has no entry. */
const WAITING = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `act` when the signal is aborted, at once if it is aborted already. Returns a function that takes this back. However many wait for
 * a signal, it has one listener: a program may give the same signal to all its runs, and Node.js takes more than ten listeners for a leak.
 *
 * @example
 * const release = whenAborted(signal, () => run.cancel());
 * void run.result.then(release);
 */
export function whenAborted(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted === true) act();
  if (signal === undefined || signal.aborted) return () => undefined;
  const { acts, listener } = WAITING.get(signal) ?? listening(signal);
  // A function of its own, because `act` may wait twice.
  const entry = (): void => act();
  acts.add(entry);
  return () => {
    if (!acts.delete(entry) || acts.size > 0) return;
    signal.removeEventListener('abort', listener);
    WAITING.delete(signal);
  };
}

function listening(signal: AbortSignal): Waiting {
  const acts = new Set<() => void>();
  const waiting = { acts, listener: () => [...acts].forEach((act) => act()) };
  WAITING.set(signal, waiting);
  signal.addEventListener('abort', waiting.listener, { once: true });
  return waiting;
}
