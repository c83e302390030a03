import type { Condition } from '../lang/values.js';
import { ENDORSEMENT, type Endorsement } from './endorsement.js';
import { integer, is, list, number, options, word, wordOr } from './form.js';
import { course, judgement, policy, type Rows } from './rows.js';
import { SUPERVISION, type Supervision } from './supervision.js';
import { CONDITIONS } from './value-forms.js';

/** Longest timer, in milliseconds: about 24 days. */
const LONGEST_TIMER = 2_147_483_647;

/** Retry of failed attempts. Delays are in milliseconds. */
export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly retries: number;
  readonly backoff: 'fixed' | 'linear' | 'exponential';
  readonly delayMs: number;
  /** Upper bound of a single delay. Default 60 000. A provider's Retry-After replaces the computed delay. */
  readonly maxDelayMs?: number;
  /**
   * The failures to retry. Default: transient ones (`base/passing-errors.ts`). A list: HTTP statuses, and texts that match an error's name,
   * class, code, or part of its message in any case. `any`: all. `code`: the binding `retry:NODE` decides. An error with `retryable: false`
   * is never retried.
   */
  readonly on?: readonly (string | number)[] | 'any' | 'code';
  /** Random fraction of the delay, 0 to 1. Default 0. */
  readonly jitter?: number;
}

/** The policies around a node's body, outermost first. Their effects: `engine/steps/policies/`. */
export interface NodePolicies {
  /** All must hold, else the step is skipped. `code` conditions call the binding `when:NODE`. */
  readonly when?: readonly Condition[];
  /** Makes the node's result vetted, once a person vouches for it or a schema allows nothing else. */
  readonly endorse?: Endorsement;
  /** Has the node's result judged before anything reads it. Not on `ask`, `wait`, `pass`. */
  readonly supervise?: Supervision;
  readonly retry?: RetryPolicy;
  /** Per attempt, in milliseconds. */
  readonly timeoutMs?: number;
}

const RETRY = options<RetryPolicy>({
  retries: integer(0, 1_000),
  backoff: word('fixed', 'linear', 'exponential'),
  delayMs: number(0, LONGEST_TIMER),
  'maxDelayMs?': number(0, LONGEST_TIMER),
  'on?': wordOr(
    ['any', 'code'],
    list(is<string | number>((value) => ['string', 'number'].includes(typeof value), 'a text or a number')),
  ),
  'jitter?': number(0, 1),
});

export const POLICIES: Rows<NodePolicies> = {
  'when?': course('when', CONDITIONS),
  'endorse?': judgement('endorsement', ENDORSEMENT),
  'supervise?': judgement('supervision', SUPERVISION),
  'retry?': policy('retry', RETRY),
  'timeoutMs?': policy('timeout', number(1, LONGEST_TIMER)),
};
