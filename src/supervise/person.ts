import { SkeinError } from '../base/errors.js';
import type { Json } from '../base/json.js';
import { isPlainObject } from '../base/json.js';
import type { Question } from '../engine/ports/durable.js';

/** What a person says of an attempt. */
export type Decision =
  | { readonly verdict: 'approve' | 'reject' }
  /** It is done again, and told this. */
  | { readonly verdict: 'revise'; readonly correction: string };

/** A text on one line or on several, with what is to be revised behind the colon. */
const REVISE = /^\s*revise\s*:\s*(\S[^]*)$/;

/** What a person may answer, in words. */
const WAYS = 'approve, reject, or revise: WHAT TO DO DIFFERENTLY';

/** JSON Schema of what a person may answer: a text, or an object with the correction. */
const ANSWER = {
  description: `answer ${WAYS}`,
  type: ['string', 'object'],
  pattern: '^approve$|^reject$|^\\s*revise\\s*:\\s*\\S',
  properties: { revise: { type: 'string', pattern: '\\S' } },
  required: ['revise'],
  additionalProperties: false,
  examples: ['approve', 'reject', 'revise: WHAT TO DO DIFFERENTLY'],
};

/**
 * The question whether what a step did may count. The evidence shows what a person needs to decide: the output, what was promised beside what
 * was delivered.
 */
export function personQuestion(asked: string, evidence: Json): Question {
  return { text: `${asked} (${WAYS})`, schema: ANSWER, evidence };
}

/**
 * What an answer means: `approve`, `reject`, `revise: TEXT` or `{ revise: TEXT }`.
 *
 * @throws SkeinError `SKEIN_ANSWER` for anything else: it is never taken for an approval
 */
export function decisionOf(answer: unknown): Decision {
  if (answer === 'approve' || answer === 'reject') return { verdict: answer };
  const given = isPlainObject(answer) ? `revise: ${String(answer['revise'])}` : answer;
  const correction = typeof given === 'string' ? REVISE.exec(given)?.[1] : undefined;
  if (correction !== undefined) return { verdict: 'revise', correction: correction.trim() };
  throw new SkeinError('SKEIN_ANSWER', `'${String(answer)}' does not say whether the step may pass`, {
    hint: 'answer approve, reject, or "revise: WHAT TO DO DIFFERENTLY"',
  });
}
