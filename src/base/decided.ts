import { SkeinError, type ErrorData, type ErrorOptions } from './errors.js';
import { isPlainObject } from './json.js';

/** Errors that follow from what is recorded, here or in the file of a replay, or that a recorded verdict gives. */
const DECIDED: ReadonlySet<unknown> = new Set([
  'SKEIN_INPUT',
  'SKEIN_BAD_UPDATE',
  'SKEIN_BAD_OUTPUT',
  'SKEIN_WRITE_CONFLICT',
  'SKEIN_BAD_ROUTE',
  'SKEIN_MAX_STEPS',
  'SKEIN_MAX_VISITS',
  'SKEIN_MAX_ROUNDS',
  'SKEIN_MAX_ITEMS',
  'SKEIN_NOT_A_LIST',
  'SKEIN_INVARIANT',
  'SKEIN_TEMPLATE',
  'SKEIN_MODEL_CAP',
  'SKEIN_CHECK',
  'SKEIN_HALTED',
  'SKEIN_REJECTED',
  'SKEIN_NOT_ENDORSED',
  'SKEIN_REPLAY_MISS',
]);

/** Details of the timeout of a question or an outside event that is an answer, because its step has a way for it. */
export const EXPIRED = { expired: true } as const;

/** The failure of a function whose parts, and the runs that it started, gave only what was recorded: if it failed because of that, it fails again. */
export function followsFromRecord(error: ErrorData): ErrorData {
  return { hint: ASK_ANEW, details: { fromRecord: true }, ...error };
}

const ASK_ANEW =
  'what its parts and its runs returned came from the record: to ask them anew, fork the run from this step';

/** Whether an error is such a failure. */
export function isFromRecord({ details }: Partial<ErrorData>): boolean {
  return isPlainObject(details) && details['fromRecord'] === true;
}

/** Whether a resume of the same definition fails with this error again, and runs nothing: only a change or a fork helps. */
export function isDecided(error: Partial<ErrorData>): boolean {
  const { code, details } = error;
  if (isFromRecord(error)) return true;
  // A model that answers with nothing is asked again. That a loop is left with nothing follows from answers that count.
  if (code === 'SKEIN_MODEL_EMPTY') return isPlainObject(details) && details['loop'] !== undefined;
  if (code === 'SKEIN_TIMEOUT') return isPlainObject(details) && details['expired'] === true;
  if (code === 'SKEIN_TOOL_REFUSED') return isPlainObject(details) && details['refusedBy'] === PERSON;
  if (code !== 'SKEIN_REQUIRE') return DECIDED.has(code);
  const failures = isPlainObject(details) ? details['failures'] : undefined;
  return Array.isArray(failures) && failures.every((one) => isPlainObject(one) && DECIDED.has(one['code']));
}

/** Errors of calls that were not made. Not a part of their data, which an error of another step may repeat. */
const UNMADE = new WeakSet<object>();

/** The error for a call that is refused before it is made: a step that may be done only once can then be done again. */
export function unmadeCall(
  code: 'SKEIN_INPUT' | 'SKEIN_TOOL_REFUSED',
  message: string,
  options?: ErrorOptions,
): SkeinError {
  const error = new SkeinError(code, message, options);
  UNMADE.add(error);
  return error;
}

/** The error for a call that a person refused. The answer is recorded: only a fork asks again. */
export function refusedByPerson(call: string, hint?: string): SkeinError {
  const details = { refusedBy: PERSON };
  return unmadeCall('SKEIN_TOOL_REFUSED', `a person refused ${call}`, { hint, details, retryable: false });
}

const PERSON = 'person';

/** Whether a step threw this before the call that it was to make. */
export function isUnmade(error: unknown): boolean {
  return typeof error === 'object' && error !== null && UNMADE.has(error);
}
