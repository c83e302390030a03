import { SkeinError } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import { object, TEXT, word, type Form } from './form.js';

/** Modes of security, from the least careful to the most. */
export const SECURITY_MODES = ['default', 'research', 'paranoid'] as const;

/** Which models review tool calls. The guard itself calls none. */
export type SecurityMode = (typeof SECURITY_MODES)[number];

/** Models that review tool calls before they are made. They can refuse calls that would be allowed or need approval, but allow none. */
export interface Security {
  /**
   * `default`: calls that untrusted text influenced are screened, and reviewed if the screener doubts. `paranoid`: every call is screened
   * and reviewed, except declared reads of trusted data. `research`: the same, but work in {@link scope} is allowed.
   */
  readonly mode: SecurityMode;
  /** Only with `research`: what may be investigated. */
  readonly scope?: string;
  /** The reviewing model, `provider/model`. Absent: the agent's. */
  readonly model?: string;
}

/** A security setting in code: a mode, or one with a scope or a model. */
export type SecurityInput = SecurityMode | Security;

export const SECURITY: Form<Security> = object<Security>({
  mode: word(...SECURITY_MODES),
  'scope?': TEXT,
  'model?': TEXT,
});

export function securityData(input: SecurityInput): Security {
  return typeof input === 'string' ? { mode: input } : input;
}

/**
 * Returns the security of a run's options; undefined if not given.
 *
 * @throws SkeinError `SKEIN_USAGE` for an invalid setting, and for `research` without a scope
 */
export function securityGiven(input: unknown): Security | undefined {
  if (input === undefined) return undefined;
  const security: unknown = typeof input === 'string' ? { mode: input } : input;
  const misfit = isPlainObject(security) ? SECURITY(security)?.[0] : { message: 'is a mode, or an object with one' };
  const hint = "security: 'paranoid', or { mode: 'research', scope: 'the parser of this project' }";
  if (misfit !== undefined)
    throw new SkeinError('SKEIN_USAGE', `the security of a run: it ${misfit.message}`, { hint });
  const known = security as Security;
  if (lacksScope(known)) throw new SkeinError('SKEIN_USAGE', NO_SCOPE, { hint });
  return known;
}

/** The problem of `research` without a scope. */
export const NO_SCOPE = 'security research needs a scope: what may be investigated';

/** Returns whether it is `research` without a scope. */
export function lacksScope({ mode, scope = '' }: Security): boolean {
  return mode === 'research' && scope.trim() === '';
}

/** Returns whether a setting is less careful than the surrounding one, or has another scope. */
export function lowers(own: Security, around: Security | undefined): boolean {
  if (around === undefined) return false;
  if (own.mode === 'research' && around.mode === 'research') return own.scope !== around.scope;
  return rank(own) < rank(around);
}

function rank({ mode }: Security): number {
  return SECURITY_MODES.indexOf(mode);
}

/** Combines a setting with the surrounding one, without lowering it. */
export function raised(around: Security | undefined, own: Security | undefined): Security | undefined {
  if (own === undefined || around === undefined) return own ?? around;
  return lowers(own, around) ? around : { ...around, ...own };
}

/** Formats a security setting: `paranoid, judged by openai/gpt-5-mini`. */
export function securityText({ mode, scope, model }: Security): string {
  const where = mode === 'research' && scope !== undefined ? ` into ${JSON.stringify(scope)}` : '';
  return `${mode}${where}${model === undefined ? '' : `, judged by ${model}`}`;
}
