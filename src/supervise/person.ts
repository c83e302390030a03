import { SkeinError } from '../base/errors.js';
import { isPlainObject, type Json } from '../base/json.js';
import type { Question } from '../engine/ports/durable.js';

export type Decision =
  | { readonly verdict: 'approve' | 'reject' }
  /** The step runs again with this correction. */
  | { readonly verdict: 'revise'; readonly correction: string };

/** A text on one line or several, with the correction after the colon. */
const REVISE = /^\s*revise\s*:\s*(\S[^]*)$/;

/** The possible answers of a person, in words. */
const WAYS = 'approve, reject, or revise: WHAT TO DO DIFFERENTLY';

/** JSON Schema of a person's answer: a text, or an object with the correction. */
const ANSWER = {
  description: `answer ${WAYS}`,
  type: ['string', 'object'],
  pattern: '^approve$|^reject$|^\\s*revise\\s*:\\s*\\S',
  properties: { revise: { type: 'string', pattern: '\\S' } },
  required: ['revise'],
  additionalProperties: false,
  examples: ['approve', 'reject', 'revise: WHAT TO DO DIFFERENTLY'],
};

/** The question whether a step's result counts. The evidence is the output, and the commitment beside the assessment. */
export function personQuestion(asked: string, evidence: Json): Question {
  return { text: `${asked} (${WAYS})`, schema: ANSWER, evidence };
}

/**
 * Parses an answer: `approve`, `reject`, `revise: TEXT` or `{ revise: TEXT }`.
 *
 * @throws SkeinError `SKEIN_ANSWER` for anything else, which never counts as an approval
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
