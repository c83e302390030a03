import { present } from '../../../base/json.js';
import { isFinal, toErrorData, type ErrorData } from '../../../base/errors.js';
import { mayGoAway, statusOf } from '../../../base/passing-errors.js';
import { asBoolean } from '../../../lang/condition.js';
import type { PlanNode, RetryPolicy } from '../../../plan/plan.js';
import type { FailedAttempt } from '../../../plan/retry-input.js';
import type { Bound, CountedStep, Policy } from './policy.js';

/** Upper bound of one delay if the policy has none, in milliseconds. */
const MAX_DELAY = 60_000;

type RetryFunction = (failure: FailedAttempt) => unknown;

/**
 * A node that is retried after failures that may go away: `retry`. A provider's Retry-After replaces the computed delay. A failed model
 * call inside is repeated on its own, so that earlier work of the step is kept; both share one count.
 */
export function retry({ id, retry: policy }: PlanNode, bound: Bound): Policy | undefined {
  if (policy === undefined) return undefined;
  const binding = `retry:${id}`;
  const retried = policy.on === 'code' ? (bound.fn(binding) as RetryFunction) : undefined;
  const decides = (error: ErrorData): boolean => asBoolean(retried?.(failedAttempt(error)), binding);
  return {
    failed(step, error, out) {
      const used = step.tries + step.repeats;
      let mayGoOn: boolean;
      try {
        mayGoOn = used <= policy.retries && isRetried(policy, error, decides);
      } catch (thrown) {
        out(badRetry(id, error, thrown));
        return;
      }
      if (mayGoOn) step.retryAfter(delayOf(policy, step, { error, used, key: `${step.key}@backoff` }), error);
      else out(error);
    },
    again(step, { error, repeats, key, judging }) {
      const used = (judging ? 1 : step.tries) + repeats;
      const isTried = (): boolean => used <= policy.retries && isRetried(policy, error, decides);
      if (!(recordedChoice(step, key) ?? holds(isTried))) return 'never';
      if (!judging) step.repeats = Math.max(step.repeats, repeats + 1);
      return { delayMs: delayOf(policy, step, { error, used, key }) };
    },
  };
}

/** A function that throws here is called again when the attempt fails. */
function holds(decides: () => boolean): boolean {
  try {
    return decides();
  } catch {
    return false;
  }
}

/** A recorded retry is decisive, whatever the current policy: of the failed call, or of the whole step. */
function recordedChoice({ key: step, run: { durable } }: CountedStep, key: string): boolean | undefined {
  if (!durable.replaying || durable.timed === undefined) return undefined;
  if (durable.timed(key)) return true;
  return durable.timed(`${step}@backoff`) ? false : undefined;
}

/** A retried failure, and the number of attempts so far, from 1. */
interface Tried {
  readonly error: ErrorData;
  readonly used: number;
  readonly key: string;
}

function delayOf(policy: RetryPolicy, { run }: CountedStep, { error, used, key }: Tried): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const factor = policy.backoff === 'fixed' ? 1 : policy.backoff === 'linear' ? used : 2 ** (used - 1);
  const delay = Math.min(policy.delayMs * factor, policy.maxDelayMs ?? MAX_DELAY);
  const jitter = policy.jitter ?? 0;
  return jitter === 0 ? delay : Math.round(delay * (1 - jitter * run.durable.random(key)));
}

/** Depends only on recorded data, so a replay decides the same. */
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

/** Skein's own errors have no name. */
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
    ...present({ code: told, status, retryable }),
    error,
  });
}

/** The error for a failure of the function that decides about retries. */
function badRetry(id: string, error: ErrorData, thrown: unknown): ErrorData {
  const { message, ...rest } = toErrorData(thrown);
  return {
    ...rest,
    message: `the retry of '${id}' could not be decided: ${message}; the failure was: ${error.message}`,
  };
}
