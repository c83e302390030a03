import { SkeinError } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import { object, TEXT, word } from './form.js';
import type { Form } from './form.js';

/** Modes of security, from the least careful to the most. */
export const SECURITY_MODES = ['default', 'research', 'paranoid'] as const;

/** What models look at calls of tools, in addition to the guard that asks none. */
export type SecurityMode = (typeof SECURITY_MODES)[number];

/** What models look at calls of tools before they are made. They can refuse what would be allowed or asked about, and allow nothing. */
export interface Security {
  /**
   * `default`: what an untrusted text had a say in is screened, and reviewed where the screener doubts. `paranoid`: every call is screened and reviewed but
   * declared reads of trusted data. `research`: the same, with work in {@link scope} allowed.
   */
  readonly mode: SecurityMode;
  /** Of `research`: what may be looked into. */
  readonly scope?: string;
  /** The model that judges, `provider/model`. Absent: that of the agent. */
  readonly model?: string;
}

/** A security as programs write it: a mode, or one with a scope or a model. */
export type SecurityInput = SecurityMode | Security;

/** The form of a security. */
export const SECURITY: Form<Security> = object<Security>({
  mode: word(...SECURITY_MODES),
  'scope?': TEXT,
  'model?': TEXT,
});

/** A security as plan data. */
export function securityData(input: SecurityInput): Security {
  return typeof input === 'string' ? { mode: input } : input;
}

/**
 * The security that a run is given; undefined where it is given none.
 *
 * @throws SkeinError `SKEIN_USAGE` for what is none, and for `research` without a scope
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

/** What is wrong with `research` without a scope. */
export const NO_SCOPE = 'security research needs a scope: what may be looked into';

/** Whether it is `research` and does not say into what. */
export function lacksScope({ mode, scope = '' }: Security): boolean {
  return mode === 'research' && scope.trim() === '';
}

/** Whether one is less careful than what holds around it, or looks into something else. */
export function lowers(own: Security, around: Security | undefined): boolean {
  if (around === undefined) return false;
  if (own.mode === 'research' && around.mode === 'research') return own.scope !== around.scope;
  return rank(own) < rank(around);
}

function rank({ mode }: Security): number {
  return SECURITY_MODES.indexOf(mode);
}

/** What holds where something is said within something else: nothing is lowered. */
export function raised(around: Security | undefined, own: Security | undefined): Security | undefined {
  if (own === undefined || around === undefined) return own ?? around;
  return lowers(own, around) ? around : { ...around, ...own };
}

/** A security in words: `paranoid, judged by openai/gpt-5-mini`. */
export function securityText({ mode, scope, model }: Security): string {
  const where = mode === 'research' && scope !== undefined ? ` into ${JSON.stringify(scope)}` : '';
  return `${mode}${where}${model === undefined ? '' : `, judged by ${model}`}`;
}
