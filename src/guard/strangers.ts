import type { Policy } from '../plan/policy.js';
import type { GuardedCall } from './decide.js';
import { decide } from './decide.js';
import type { Label } from './label.js';
import { declarationsOf } from './policy.js';

/** Who names what a workflow of strangers names. */
const STRANGERS: Label = { level: 'untrusted', isPrivate: true, sources: ['project'] };

/**
 * Why what a workflow names may not be used in a project of strangers; undefined: it may. There it is decided about as a call is in which an untrusted text
 * had a say: what the user declares counts.
 *
 * @example
 * strangersRefusal({ effect: 'get', tool: 'a model', input: { url: 'https://evil.example' } }, policies);
 */
export function strangersRefusal(
  call: Pick<GuardedCall, 'effect' | 'tool' | 'input'>,
  policies: readonly Policy[],
): string | undefined {
  const rules = declarationsOf(policies);
  if (rules.project !== 'untrusted') return undefined;
  const { kind, why } = decide({ ...call, seesPrivate: true }, STRANGERS, rules);
  return kind === 'allow' ? undefined : why;
}
