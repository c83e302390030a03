import { isFinal, toErrorData } from '../../../base/errors.js';
import type { ErrorData } from '../../../base/errors.js';
import { mayGoAway, statusOf } from '../../../base/passing-errors.js';
import { asBoolean } from '../../../lang/condition.js';
import type { PlanNode, RetryPolicy } from '../../../plan/plan.js';
import type { FailedAttempt } from '../../../plan/retry-input.js';
import type { Bound, PolicedStep, Policy } from './policy.js';

/** Upper bound of one delay where the policy names none, in milliseconds. */
const MAX_DELAY = 60_000;

/** A function that decides whether a failure is tried again. */
type RetryFunction = (failure: FailedAttempt) => unknown;

/** A node that is tried again after failures that may go away: `retry`. A provider's Retry-After replaces the computed delay. */
export function retry({ id, retry: policy }: PlanNode, bound: Bound): Policy | undefined {
  if (policy === undefined) return undefined;
  const key = `retry:${id}`;
  const retried = policy.on === 'code' ? (bound.fn(key) as RetryFunction) : undefined;
  const decides = (error: ErrorData): boolean => asBoolean(retried?.(failedAttempt(error)), key);
  return {
    failed(step, error, out) {
      let mayGoOn: boolean;
      try {
        mayGoOn = step.tries <= policy.retries && isRetried(policy, error, decides);
      } catch (thrown) {
        out(badRetry(id, error, thrown));
        return;
      }
      if (mayGoOn) step.retryAfter(delayOf(policy, step, error), error);
      else out(error);
    },
  };
}

function delayOf(policy: RetryPolicy, { tries, key, run }: PolicedStep, error: ErrorData): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const factor = policy.backoff === 'fixed' ? 1 : policy.backoff === 'linear' ? tries : 2 ** (tries - 1);
  const delay = Math.min(policy.delayMs * factor, policy.maxDelayMs ?? MAX_DELAY);
  const jitter = policy.jitter ?? 0;
  return jitter === 0 ? delay : Math.round(delay * (1 - jitter * run.durable.random(`${key}@backoff`)));
}

/** All that is looked at is recorded, so a replay decides the same. */
function isRetried({ on }: RetryPolicy, error: ErrorData, decides: (error: ErrorData) => boolean): boolean {
  if (error.code === 'SKEIN_CANCELLED' || error.retryable === false || isFinal(error)) return false;
  if (on === 'any') return true;
  if (on === undefined) return mayGoAway(error);
  return on === 'code' ? decides(error) : on.some((wanted) => matches(error, wanted));
}

function matches(error: ErrorData, wanted: string | number): boolean {
  const { code, classes = [], thrownCode, message } = error;
  const word = String(wanted);
  if (thrownCode === word) return true;
  if (typeof wanted === 'number') return statusOf(error) === wanted;
  if (code === word || nameOf(error) === word || classes.includes(word)) return true;
  return message.toLowerCase().includes(word.toLowerCase());
}

/** Errors of Skein's own keep no name. */
function nameOf({ code, name }: ErrorData): string {
  return name ?? (code === 'SKEIN_STEP_FAILED' ? 'Error' : 'SkeinError');
}

function failedAttempt(error: ErrorData): FailedAttempt {
  const { code, thrownCode, retryable, message } = error;
  const status = statusOf(error);
  const told = code === 'SKEIN_STEP_FAILED' ? thrownCode : code;
  return Object.freeze({
    message,
    name: nameOf(error),
    ...(told === undefined ? {} : { code: told }),
    ...(status === undefined ? {} : { status }),
    ...(retryable === undefined ? {} : { retryable }),
    error,
  });
}

/** The function that decides about retries failed itself. */
function badRetry(id: string, error: ErrorData, thrown: unknown): ErrorData {
  const { message, ...rest } = toErrorData(thrown);
  return {
    ...rest,
    message: `the retry of '${id}' could not be decided: ${message}; the failure was: ${error.message}`,
  };
}
