import { SkeinError, toErrorData } from '../../base/errors.js';
import { MODEL_TRIES } from '../../plan/limits.js';
import type { AgentStep, OpenedModel } from '../session.js';

/** First delay between tries, in milliseconds; doubles up to {@link LONGEST_DELAY_MS}. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** Longest pause of a provider that is waited for, in milliseconds, unless the step has a `retry`. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Errors after which the next model of the list is called at once, without a retry of the same model. */
const NEXT_AT_ONCE: ReadonlySet<string> = new Set([
  'SKEIN_MODEL_UNAVAILABLE',
  'SKEIN_MODEL_UNKNOWN',
  'SKEIN_NO_KEY',
  'SKEIN_PACKAGE_MISSING',
  'SKEIN_REPLAY_MISS',
  'SKEIN_BUDGET_MODEL',
]);

/** A model call that failed. */
interface Failure {
  readonly error: SkeinError;
  readonly model: OpenedModel;
  readonly next: OpenedModel | undefined;
  /** How often this turn has already been repeated with this model. */
  readonly failures: number;
  /** How often all turns together have been repeated. */
  readonly repeats: number;
  /** Name of the wait before the next try. */
  readonly pause: string;
}

type Failing = Pick<AgentStep, 'step' | 'phase'>;

/**
 * Waits and returns `again`, returns `next-model`, or throws. The `retry` of the step, or of a step around it, sets the tries and counts
 * them over the whole step; without a `retry`, each turn has {@link MODEL_TRIES}.
 */
export async function afterFailure(options: Failing, failure: Failure): Promise<'again' | 'next-model'> {
  const { error, model, next, repeats, pause } = failure;
  const { step, phase } = options;
  const data = toErrorData(error);
  if (error.retryable === true && !(isTooLong(error) && next !== undefined)) {
    const again = step.again({ error: data, repeats, pause, judging: phase !== undefined });
    const delayMs = again === undefined ? ownDelay(failure) : again === 'never' ? undefined : again.delayMs;
    if (delayMs !== undefined) {
      step.note({ kind: 'model.retrying', model: model.id, error: data, delayMs });
      await (again === undefined ? step.sleep(pause, delayMs) : step.backoff(pause, delayMs));
      return 'again';
    }
    if (again === undefined && isTooLong(error)) throw waitsTooLong(error);
  }
  if (next === undefined || (error.retryable !== true && !NEXT_AT_ONCE.has(error.code))) throw error;
  step.note({ kind: 'model.fallback', from: model.id, to: next.id, error: data });
  return 'next-model';
}

function isTooLong({ retryAfterMs = 0 }: SkeinError): boolean {
  return retryAfterMs > LONGEST_RETRY_AFTER_MS;
}

/** Undefined if no further try is left. */
function ownDelay({ error, failures }: Failure): number | undefined {
  if (failures + 1 >= MODEL_TRIES || isTooLong(error)) return undefined;
  return error.retryAfterMs ?? Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
}

function waitsTooLong(error: SkeinError): SkeinError {
  const { retryAfterMs = 0 } = error;
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const message = `${error.message}; it asks to wait ${seconds} s, more than the ${LONGEST_RETRY_AFTER_MS / 1_000} s that are waited for`;
  return new SkeinError(error.code, message, {
    retryable: true,
    retryAfterMs,
    hint: 'try again later, or name another model after this one',
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}
