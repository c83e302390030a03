import { whenAborted } from '../../base/aborts.js';
import { SkeinError } from '../../base/errors.js';
import { systemClock } from '../../base/clock.js';
import type { Store } from '../../journal/store.js';

const nobody = (): void => undefined;

/** Turns of this process that wait for one another, by thread, in order of arrival. */
const lines = new WeakMap<Store, Map<string, Promise<void>>>();

/**
 * Waits until no turn of this process holds a thread. Returns the function that lets the next turn continue.
 *
 * @throws SkeinError `SKEIN_LEASE` if the thread is busy and the turn does not wait, `SKEIN_CANCELLED`
 */
export async function standInLine(
  store: Store,
  id: string,
  { waits, signal }: { readonly waits: boolean; readonly signal: AbortSignal | undefined },
): Promise<() => void> {
  const line = lines.get(store) ?? new Map<string, Promise<void>>();
  lines.set(store, line);
  const before = line.get(id);
  if (before !== undefined && !waits) throw busy(id);
  let leave = nobody;
  const own = new Promise<void>((resolve) => (leave = resolve));
  const all = before === undefined ? own : before.then(() => own);
  line.set(id, all);
  void all.then(() => {
    if (line.get(id) === all) line.delete(id);
  });
  if (before === undefined) return leave;
  try {
    await orAborted(before, signal);
  } catch (error) {
    leave();
    throw error;
  }
  return leave;
}

/** The error for a thread that another process continues. */
export function busy(id: string): SkeinError {
  return new SkeinError('SKEIN_LEASE', `the thread '${id}' is busy: another turn of it runs`, {
    hint: "wait for that turn, or let this one wait: onBusy: 'wait', or --on-busy wait",
  });
}

/** @throws SkeinError `SKEIN_CANCELLED` */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let stop = nobody;
  const passed = new Promise<void>((resolve) => (stop = systemClock.setTimer(ms, resolve)));
  try {
    await orAborted(passed, signal);
  } finally {
    stop();
  }
}

async function orAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return await promise;
  checkGoing(signal);
  let release = nobody;
  const aborted = new Promise<void>((resolve) => (release = whenAborted(signal, resolve)));
  await Promise.race([promise, aborted]);
  release();
  checkGoing(signal);
}

/** @throws SkeinError `SKEIN_CANCELLED` */
export function checkGoing(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  const reason: unknown = signal.reason;
  throw new SkeinError('SKEIN_CANCELLED', reason instanceof Error ? reason.message : 'the run was cancelled');
}
