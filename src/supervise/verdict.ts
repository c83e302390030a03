import { isLate } from '../base/at-once.js';
import { SkeinError } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import { quoteShort } from '../lang/value-text.js';
import type { Reconciled, Verdict } from '../plan/supervision.js';
import { asText, objectIn } from './checkpoints.js';

/** Characters of an answer without a verdict that a person sees. */
const LONGEST_ANSWER = 500;

const VERDICTS: ReadonlySet<string> = new Set<Verdict['verdict']>(['continue', 'reorient', 'ask_human', 'halt']);

/** Parses the answer of a supervisor's model. An unreadable answer, or one without a verdict, is never an acceptance: a person is asked. */
export function verdictIn(text: string): Verdict {
  const said = objectIn(text);
  const verdict = asText(said?.['verdict']).toLowerCase();
  if (said !== undefined && isVerdict(verdict)) return { ...parts(said), verdict };
  const shown = text.length > LONGEST_ANSWER ? `${text.slice(0, LONGEST_ANSWER)}…` : text;
  return { verdict: 'ask_human', question: `The supervisor gave no verdict. It said: ${shown}` };
}

/** @throws SkeinError `SKEIN_USAGE` for a value that is not a verdict */
export function asVerdict(value: unknown): Verdict {
  const verdict: unknown = isPlainObject(value) ? value['verdict'] : value;
  if (isPlainObject(value) && isVerdict(verdict)) return { ...parts(value), verdict };
  const shown = typeof verdict === 'string' ? quoteShort(verdict) : `"${String(verdict)}"`;
  throw new SkeinError('SKEIN_USAGE', `unknown supervision verdict ${shown}`, {
    hint: 'supervise must return { verdict } with continue, reorient, ask_human or halt',
  });
}

/** @throws SkeinError `SKEIN_USAGE` */
export function asReconciled(value: unknown): Reconciled {
  const { triggers, escalate } = isPlainObject(value) ? value : {};
  if (Array.isArray(triggers) && triggers.every((one) => typeof one === 'string') && typeof escalate === 'boolean')
    return { triggers: [...(triggers as readonly string[])], escalate };
  const late = isLate(value) ? ' at once, not a promise' : '';
  throw new SkeinError('SKEIN_USAGE', `reconcile of a supervisor must return { triggers, escalate }${late}`, {
    hint: "such as { triggers: ['concern:no tests'], escalate: true }",
  });
}

function isVerdict(value: unknown): value is Verdict['verdict'] {
  return typeof value === 'string' && VERDICTS.has(value);
}

function parts(said: Readonly<Record<string, unknown>>): Omit<Verdict, 'verdict'> {
  const given = ['correction', 'question', 'reason'].map((name) => [name, asText(said[name])] as const);
  return Object.fromEntries(given.filter(([, text]) => text !== ''));
}
