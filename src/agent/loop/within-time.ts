import { SkeinError } from '../../base/errors.js';
import { systemClock } from '../../base/clock.js';
import { formatDuration } from '../../base/duration.js';

/**
 * Carries out a call that a policy gives a time: its signal is aborted when that is over, and it ends then, whatever it does.
 *
 * @throws SkeinError `SKEIN_TIMEOUT`
 */
export async function withinTime<T>(
  ms: number | undefined,
  tool: string,
  signal: () => AbortSignal,
  call: (signal?: AbortSignal) => T | Promise<T>,
): Promise<T> {
  if (ms === undefined) return call();
  const late = new AbortController();
  let stop: (() => void) | undefined;
  const over = new Promise<never>((_, reject) => {
    stop = systemClock.setTimer(ms, () => {
      const message = `${tool} took longer than the ${formatDuration(ms)} that a policy gives it`;
      const error = new SkeinError('SKEIN_TIMEOUT', message, { hint: 'ask for less at once' });
      // First, because a tool that is told may say that it was cancelled.
      reject(error);
      late.abort(error);
    });
  });
  try {
    return await Promise.race([call(AbortSignal.any([signal(), late.signal])), over]);
  } finally {
    stop?.();
  }
}
