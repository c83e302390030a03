import { withoutAtEnd } from '../../base/text.js';
import { SkeinError } from '../../base/errors.js';
import type { ProviderSpec } from '../../plan/agent-spec.js';
import type { ProviderEntry } from '../../plan/providers.js';
import { ollamaHost } from './ollama.js';
import type { Policy } from '../../plan/policy.js';
import { envValue, hostVariable, mayReceive, ownerOf, type Env } from './environment.js';
import { strangersRefusal } from '../../guard/policy.js';
import { domainRefusal } from '../permissions/policy-check.js';

export interface Endpoint {
  /** Without a slash at the end; undefined: the package's default. */
  readonly baseUrl: string | undefined;
  readonly key: string | undefined;
  readonly keyEnv: string | undefined;
  /** Set if the key is not sent, because only the workflow file names the address: what to do if it is needed. */
  readonly withheld: string | undefined;
}

/**
 * Base URL and key of a provider: from the workflow, then from the environment. A key goes only where {@link mayReceive} allows.
 *
 * @throws SkeinError `SKEIN_NO_KEY` if the workflow's variable is empty or may not go to the address, or the provider requires a key;
 *   `SKEIN_NO_MODEL` if it has no base URL; `SKEIN_POLICY` if a policy forbids the workflow's address.
 */
export function endpointOf(
  provider: ProviderEntry,
  model: string,
  env: Env,
  spec: ProviderSpec | undefined,
  policies: readonly Policy[] = [],
): Endpoint {
  const own = spec !== undefined && spec.type.trim().toLowerCase() === provider.id ? spec : undefined;
  if (own?.baseUrl !== undefined) checkNamedAddress(own.baseUrl, policies);
  const given = own?.baseUrl ?? envValue(env, provider.baseUrlEnv);
  const found = keyOf(provider, env, own);
  const baseUrl = baseUrlOf(provider, given);
  if (baseUrl === undefined && provider.baseUrlNeeded === true) throw noBaseUrl(provider, model);
  // A private server often has no key, so a given base URL does not require one.
  if (found.key === undefined && provider.keyNeeded && given === undefined) throw noKey(provider, model);
  return { baseUrl, ...found };
}

function keyOf(provider: ProviderEntry, env: Env, own: ProviderSpec | undefined): Omit<Endpoint, 'baseUrl'> {
  const keyEnv = own?.apiKeyEnv ?? provider.keyEnv;
  const key = envValue(env, keyEnv);
  if (own?.apiKeyEnv !== undefined && key === undefined) {
    throw new SkeinError('SKEIN_NO_KEY', `provider "${own.type}": the variable ${own.apiKeyEnv} is empty or not set`, {
      hint: `set ${own.apiKeyEnv}, or take api_key_env out for a server that needs no key`,
    });
  }
  if (own === undefined || key === undefined || keyEnv === undefined || isAllowed(own, keyEnv, provider, env))
    return { key, keyEnv, withheld: undefined };
  if (own.apiKeyEnv !== undefined) throw keptBack(own, keyEnv);
  return { key: undefined, keyEnv, withheld: nameTheHost(own, keyEnv) };
}

/** Whether the key may go to the file's address; if the file has none, to the provider's own or the environment's. */
function isAllowed(own: ProviderSpec, keyEnv: string, provider: ProviderEntry, env: Env): boolean {
  if (own.baseUrl !== undefined) return mayReceive(own.baseUrl, keyEnv, provider, env);
  const owner = ownerOf(keyEnv);
  if (owner === undefined || owner === provider) return true;
  const address = envValue(env, provider.baseUrlEnv) ?? provider.baseUrl ?? provider.home;
  return address !== undefined && mayReceive(address, keyEnv, provider, env);
}

function keptBack(own: ProviderSpec, keyEnv: string): SkeinError {
  const where = own.baseUrl === undefined ? `the provider "${own.type}"` : hostOf(own.baseUrl);
  return new SkeinError(
    'SKEIN_NO_KEY',
    `${keyEnv} is not sent to ${where}: only the workflow file names that address`,
    {
      hint: nameTheHost(own, keyEnv),
    },
  );
}

function nameTheHost({ baseUrl }: ProviderSpec, keyEnv: string): string {
  const variable = hostVariable(keyEnv);
  if (baseUrl === undefined) return `name a key of that provider, or set ${variable} to its address`;
  return `if you trust that host with the key, set ${variable}=${hostOf(baseUrl)} in the environment`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'that address';
}

function baseUrlOf(provider: ProviderEntry, given: string | undefined): string | undefined {
  if (provider.id === 'ollama') return `${ollamaHost(given)}/v1`;
  if (given === undefined) return provider.baseUrl;
  const url = withoutAtEnd(checkedUrl(given, provider), '/');
  const { baseUrlEnd = '' } = provider;
  return url.endsWith(baseUrlEnd) ? url : `${url}${baseUrlEnd}`;
}

function checkedUrl(text: string, provider: ProviderEntry): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return text;
  throw new SkeinError('SKEIN_USAGE', `the base URL of ${provider.title} is not an http or https address`, {
    hint: `correct base_url or ${provider.baseUrlEnv ?? 'the base URL'}`,
  });
}

function noKey(provider: ProviderEntry, model: string): SkeinError {
  const name = provider.keyEnv ?? 'its key';
  return new SkeinError('SKEIN_NO_KEY', `${provider.id}/${model} needs ${name}, which is empty or not set`, {
    hint: `set ${name}, choose another model with --model, or run without any model: --mock`,
  });
}

function noBaseUrl(provider: ProviderEntry, model: string): SkeinError {
  return new SkeinError('SKEIN_NO_MODEL', `${provider.id}/${model} needs a base URL`, {
    hint: `set ${provider.baseUrlEnv ?? 'the base URL'}, or base_url in the provider configuration of the workflow`,
  });
}

/**
 * Checks an address that a workflow names. Conversations go to that address, so the rules of calls apply: the domains of all policies and,
 * in a project of strangers, the hosts that the user declares.
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
