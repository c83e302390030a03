import type { ErrorData } from './errors.js';

/** What comes of asking a model; anything else happens before. */
const ANSWERS: ReadonlySet<string> = new Set([
  'SKEIN_MODEL_UNAVAILABLE',
  'SKEIN_MODEL_REFUSED',
  'SKEIN_MODEL_OVERLOADED',
  'SKEIN_MODEL_FAILED',
  'SKEIN_MODEL_EMPTY',
  'SKEIN_NETWORK',
  'SKEIN_TIMEOUT',
]);

/**
 * Whether a model was asked before a call failed: it may have to be paid for.
 *
 * @example
 * wasAsked({ code: 'SKEIN_NO_KEY', message: 'there is no key' }); // false
 */
export function wasAsked(error: Pick<ErrorData, 'code'>): boolean {
  return ANSWERS.has(error.code);
}
