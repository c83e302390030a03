import type { ErrorData } from '../base/errors.js';
import type { RetryPolicy } from '../plan/plan.js';

/** Upper bound of one delay where the policy names none, in milliseconds. */
const MAX_DELAY = 60_000;

/**
 * Milliseconds to wait before the next attempt, or undefined when there is none. A provider's Retry-After replaces the computed
 * delay. `attempt` is the one that failed, from 1.
 */
export function retryDelay(
  policy: RetryPolicy | undefined,
  attempt: number,
  error: ErrorData,
  random: () => number,
): number | undefined {
  if (policy === undefined || attempt > policy.retries || !isRetried(policy, error)) return undefined;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const factor = policy.backoff === 'fixed' ? 1 : policy.backoff === 'linear' ? attempt : 2 ** (attempt - 1);
  const delay = Math.min(policy.delayMs * factor, policy.maxDelayMs ?? MAX_DELAY);
  const jitter = policy.jitter ?? 0;
  return jitter === 0 ? delay : Math.round(delay * (1 - jitter * random()));
}

function isRetried(policy: RetryPolicy, error: ErrorData): boolean {
  if (error.code === 'SKEIN_CANCELLED') return false;
  if (policy.on === 'any') return true;
  if (policy.on === undefined) return error.retryable === true || error.code === 'SKEIN_TIMEOUT';
  const message = error.message.toLowerCase();
  return policy.on.some((wanted) => error.code === wanted || message.includes(wanted.toLowerCase()));
}
