import { SkeinError, toErrorData } from '../../base/errors.js';
import type { ErrorData } from '../../base/errors.js';
import { mayGoAway, statusOf } from '../../base/passing-errors.js';
import type { RetryPolicy } from '../../plan/plan.js';
import type { FailedAttempt } from '../../plan/retry-input.js';
import type { CompiledNode } from '../graph/compile.js';

/** Upper bound of one delay where the policy names none, in milliseconds. */
const MAX_DELAY = 60_000;

/** What follows a failed attempt. */
interface AfterFailure {
  /** Milliseconds to wait before the next attempt; undefined: there is none. A provider's Retry-After replaces the computed delay. */
  readonly delay: number | undefined;
  /** Why it failed: another error when the function failed that decides about the retries. */
  readonly failure: ErrorData;
}

/** Whether a node is tried again after a failure. `attempt` is the one that failed, from 1. */
export function afterFailure(
  compiled: CompiledNode,
  attempt: number,
  failure: ErrorData,
  random: () => number,
): AfterFailure {
  const policy = compiled.node.retry;
  if (policy === undefined || attempt > policy.retries) return { delay: undefined, failure };
  try {
    return { delay: isRetried(compiled, failure) ? delayOf(policy, attempt, failure, random) : undefined, failure };
  } catch (thrown) {
    return { delay: undefined, failure: badRetry(compiled.id, failure, thrown) };
  }
}

function delayOf(policy: RetryPolicy, attempt: number, error: ErrorData, random: () => number): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const factor = policy.backoff === 'fixed' ? 1 : policy.backoff === 'linear' ? attempt : 2 ** (attempt - 1);
  const delay = Math.min(policy.delayMs * factor, policy.maxDelayMs ?? MAX_DELAY);
  const jitter = policy.jitter ?? 0;
  return jitter === 0 ? delay : Math.round(delay * (1 - jitter * random()));
}

/** All that is looked at is recorded, so a replay decides the same. */
function isRetried({ id, node, retried }: CompiledNode, error: ErrorData): boolean {
  const on = node.retry?.on;
  if (error.code === 'SKEIN_CANCELLED' || error.retryable === false) return false;
  if (on === 'any') return true;
  if (on === undefined) return mayGoAway(error);
  if (on !== 'code') return on.some((wanted) => matches(error, wanted));
  const answer = retried?.(failedAttempt(error));
  if (typeof answer === 'boolean') return answer;
  throw new SkeinError('SKEIN_TEMPLATE', `'retry:${id}' must answer true or false at once, not ${typeof answer}`);
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
