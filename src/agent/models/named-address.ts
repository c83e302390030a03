import { SkeinError } from '../../base/errors.js';
import { strangersRefusal } from '../../guard/strangers.js';
import type { Policy } from '../../plan/policy.js';
import { domainRefusal } from '../permissions/policy-check.js';

/**
 * Conversations go to where models are called, so an address that a workflow names is decided about as a call is: by the domains of all policies and, in a
 * project of strangers, by the hosts that the user declares.
 *
 * @throws SkeinError `SKEIN_POLICY`
 */
export function checkNamedAddress(baseUrl: string, policies: readonly Policy[]): void {
  const why =
    domainRefusal(policies, baseUrl) ??
    strangersRefusal({ effect: 'get', tool: 'a model', input: { url: baseUrl } }, policies);
  if (why === undefined) return;
  throw new SkeinError('SKEIN_POLICY', `models are not called at ${baseUrl}: ${why}`, {
    hint: 'take base_url out of the workflow, or add the host to domains or hosts of your policy',
    retryable: false,
  });
}
